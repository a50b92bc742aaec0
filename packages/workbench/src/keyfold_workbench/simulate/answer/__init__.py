"""The result of a simulation: what breaks first, when and why, and what fixes it."""
