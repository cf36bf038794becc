"""Optimizers side by side: correction, sign of the implicit regularisation, modified loss; as text, LaTeX and JSON."""
