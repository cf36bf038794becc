"""Pieces of the emitted PyTorch modules that do not vary with the optimizer: ordinary Python, copied by definition.

Each definition is copied verbatim, so that names begin with an underscore and lines have at most 88 characters.
"""
