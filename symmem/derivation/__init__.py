"""From an Optimizer to its Derivation: memoryless iteration, correction, limit, modified loss and equation.

Third stage of the pipeline: declaration -> derivation -> emission.
"""
