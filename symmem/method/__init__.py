"""A method with memory as data: kernels, channels, exact numbers; from the declaration to the derivation.

method.py, frozen.py
    the Method and its channels, and what they are on a constant history
reading.py, exactly.py, numbers.py
    from a declaration to its Method, and the exact field that its numbers live in
kernel.py, scaled.py
    what the theory asks of a memory
geometric.py, instant.py, delay.py, mixture.py, composition.py, kernel_sum.py
    the memories: of a momentum variable (the model of the others), none, one past value, sums, memories of memories
realisation.py, recursions.py, steady.py, eventual.py, sums.py, overlaps.py
    a memory as a recursion and as sequences; sums over its weights, and over those of two
merging.py, doubles.py, flattening.py
    channels that are one memory by several names, or inside one another, become one
rate.py, sampling.py
    the schedule of the learning rate; how batches are drawn
plain_decays.py
    decays under names of their own, for those who compute in floating point
"""
