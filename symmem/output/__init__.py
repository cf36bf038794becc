"""Templates are rendered and files are written here: whole, or not at all."""
