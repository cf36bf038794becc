"""A derivation as a section of a paper, with its proof, macros and bibliography."""
