"""The PyTorch runtime: it imports torch and nothing else, and can be copied anywhere as a package.

What varies with the optimizer comes in as one record, :class:`.formulas.FirstOrder` or :class:`.formulas.HigherOrder`.
"""
