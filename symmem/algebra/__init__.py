"""The algebra of formulas: atoms with their kinds, derivatives along directions, exact sums, potentials.

First room of the pipeline; it knows nothing of optimizers.  Where to look:

atoms.py, symbols.py, where.py
    what formulas are made of; every room above imports it from the first of these
head.py, heads.py, functions.py, tensor_heads.py, families.py, noise_heads.py
    the table of the functions of the language, a record each: whoever walks an expression asks it
directional.py, gradients.py
    the derivative along a direction, and the gradient of a scalar
antiderivatives.py, potentials.py, free_trees.py, scalar_forms.py
    what a vector field is the gradient of
trees.py
    the normal form of an expansion
reals.py, real_functions.py, norms.py, powers.py
    rules that hold since vectors are real; norms, roots and powers in one spelling each
homogeneity.py, scale_weights.py
    what a factor in front of a vector, or a change of scale, does to a formula
intervals.py, interval_powers.py, ranges.py, signs.py
    bounds of expressions and their signs, proved from the ranges of their symbols
rational.py, exponential.py, localised.py, polynomial_sizes.py
    exact numbers: rational functions of parameters and of powers such as beta^n, on FLINT
scalars.py, pieces.py, factored.py, grouping.py, passes.py
    numbers and formulas of one optimizer, written as a person writes them
sums.py, finite_sums.py, limits.py, settling.py, eventual.py, late_form.py
    what becomes of a number over the steps: sums, limits, how fast they are reached, late steps
results.py, every.py, finite.py
    what is found, or is missing with its reason; all values or none; what is no finite number
probe.py
    formulas at a point, for a witness
threads.py
    why SymPy is asked by one thread at a time
"""

from symmem.algebra.threads import ask_in_turn

ask_in_turn()
