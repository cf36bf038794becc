"""The first room of the pipeline: text, TOML or Python -> a frozen, validated ``Optimizer``.

This package imports nothing by itself, so that listing the zoo does not wait for SymPy.  Where to look:

optimizer.py, records.py, citation.py, implementation.py
    the declaration as records that check themselves
loading.py, catalogue.py, left_out.py, digest.py
    a zoo name or a file; the index of the zoo, what is not in it, a short text that tells declarations apart
toml.py, fields.py, exact.py, interval.py
    TOML to records: every key accounted for, every number exact
parser.py, tokens.py, bounded.py, tensor_calls.py, stepwise.py, substitution.py
    expressions from a stranger's text, by a whitelist and within bounds
validation.py, readers.py, decays.py, powers.py, steps_without_value.py, torch_checks.py, names.py
    what makes a declaration an optimizer: what may be read where, decays, values, names
smoothing.py, checks_of_smoothing.py, kinks.py
    functions with a kink, which a declaration may smooth
tex.py
    the LaTeX of symbols, checked
hints.py
    what other programs write, and what to write here
"""
