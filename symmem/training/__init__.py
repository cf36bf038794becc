"""The PyTorch runtime."""
