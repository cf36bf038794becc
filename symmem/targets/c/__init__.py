"""The C target, and the libraries that are built from it."""
