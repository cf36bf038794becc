"""The algebra of formulas: atoms with their kinds, derivatives along directions, exact sums, potentials.

First room of the pipeline; it knows nothing of optimizers.
"""
