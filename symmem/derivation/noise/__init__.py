"""Mini-batches: what noise does to the update, and to its memory (mathematics.md sections 7 and 13)."""
