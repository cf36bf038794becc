"""The checks room: what the derivation claims, held against the truth of the verification room."""
