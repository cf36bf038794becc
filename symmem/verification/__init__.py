"""The verification room: it makes its own truth and shares no code with the derivation engine."""
