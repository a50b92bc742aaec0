"""What a simulation says: what breaks first, when and why, and what cures it."""
