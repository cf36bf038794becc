"""Pieces of the emitted PyTorch modules that do not vary with the optimizer: ordinary Python, copied by definition.

An emitted module holds some of these definitions verbatim, beside the formulas of its optimizer, so that all names
begin with an underscore and lines have at most 88 characters.  Here the formulas are those of :mod:`.example`.
"""
