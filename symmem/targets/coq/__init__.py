"""The Coq target: the identities that a result rests on, as theorems with their proofs."""
