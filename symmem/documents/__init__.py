"""The results in the order in which a person reads them; terminal, notebook, paper and JSON render them."""
