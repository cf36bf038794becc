"""The NumPy target."""
