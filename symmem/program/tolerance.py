"""How much of a long sum is left out; one number for all targets, without any import."""

TOLERANCE_BITS = 60
"""A finite sum leaves out the terms whose weight is below 2^-60 of the newest one's."""

MANY_STEPS = 2**30
"""The last step of an infinite sum over the past: far more than are added up."""
