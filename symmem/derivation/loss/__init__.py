"""The modified loss, or what stands against it (mathematics.md sections 5, 11 and 12)."""
