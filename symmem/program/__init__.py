"""A derivation as straight-line code, before it is spelled in a language."""
