"""The parts of tools/fuzz.py: what the inputs are made of, how one is run, and the processes that run many."""
