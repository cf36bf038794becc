"""The algebra of formulas: atoms with their kinds, derivatives along directions, exact sums, potentials.

First room of the pipeline; it knows nothing of optimizers.
"""

from symmem.algebra.threads import ask_in_turn

ask_in_turn()
