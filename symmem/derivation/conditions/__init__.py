"""Where the theory holds: where an update is smooth, has a value, is real, stays bounded, and for which steps."""
