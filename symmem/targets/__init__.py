"""One folder for each language that a program is spelled in."""
