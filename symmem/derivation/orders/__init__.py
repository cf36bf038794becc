"""Any order in h, by trees: of the limit of many steps, and of one step n (mathematics.md section 4)."""
