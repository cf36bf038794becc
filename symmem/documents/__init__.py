"""The results in the order in which a person reads them, and their renderings for terminal, notebook, paper and JSON."""
