"""From a Derivation to artifacts: terminal text, LaTeX, JSON.  Last stage of the pipeline."""
