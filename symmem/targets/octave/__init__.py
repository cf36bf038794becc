"""The Octave target, which MATLAB reads too."""
