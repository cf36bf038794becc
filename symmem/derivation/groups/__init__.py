"""Parameter groups: what the memory of one group makes of the steps of every group, first order in h."""
