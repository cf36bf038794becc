"""How much of a long sum is left out; one number for all targets, without any import."""

TOLERANCE_BITS = 60
"""A finite sum leaves out the terms whose weight is below 2^-60 of the newest one's."""
