"""From a Method to its Derivation: memoryless iteration, correction, limit, modified loss and equation, start.

Third stage of the pipeline: declaration -> method -> derivation -> documents and program.  The theory is that of
docs/mathematics.md; no module here knows the declaration.  The parts of the theory are folders; beside them stand

derivation.py
    the Derivation, which asks every part on first use
gains.py
    what each channel makes of a constant history: below everything else
assumptions.py, conclusions.py, shown.py
    what a derivation rests on, what follows, and the formulas that are asked for poles
start.py, scheduled.py, slow_rate.py
    the first steps; a schedule of the learning rate
quadratic.py, stability.py
    on a quadratic loss: all orders at once, and where it turns unstable
running.py, line_form.py
    the method as it runs, and parameter groups on one line, for code
marked_sums.py, nested_sums.py
    the correction at step n with its sums kept apart, for code
"""
