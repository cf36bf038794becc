"""A method with memory as data: kernels, channels, exact numbers; from the declaration to the derivation."""
