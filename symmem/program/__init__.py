"""A derivation as straight-line code, before it is spelled in a language.  The folder digits has its numbers.

lowering.py, expansion.py, straight.py, running.py, noise.py, past_rates.py
    which formulas become routines: F and M, the straight line, the method as it runs, mini-batches
program.py, statements.py, needs.py
    the records that every target reads, and the small functions that it includes for them
blocks.py, entrywise.py, shapes.py, one_tensor.py, needed.py
    expressions to statements: what is not entrywise, what is, matrices of other shapes
few_steps.py, ranges.py, memories.py, tolerance.py
    sums over past steps as loops: a few steps for all, many at once, recursions, where they end
products.py, updates.py
    forms for those who call: products with the Hessian from outside, single passes over the entries
scope.py
    gives out every name of emitted code
"""
