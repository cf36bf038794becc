"""Numbers at step n that keep the digits which their closed forms lose (mathematics.md section 14)."""
