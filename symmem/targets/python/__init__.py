"""What the targets in Python share: printer, writer and module."""
