"""The first room of the pipeline: text, TOML or Python -> a frozen, validated ``Optimizer``.

This package imports nothing by itself, so that listing the zoo does not wait for SymPy.
"""
