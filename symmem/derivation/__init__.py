"""From a Method to its Derivation: memoryless iteration, correction, limit, modified loss and equation, start.

Third stage of the pipeline: declaration -> method -> derivation -> documents and program.  The theory is that of
docs/mathematics.md; no module here knows the declaration.
"""
