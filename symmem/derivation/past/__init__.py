"""What the past does to the update, to first order: sums, cascades, lines (mathematics.md sections 2, 9, 10)."""
