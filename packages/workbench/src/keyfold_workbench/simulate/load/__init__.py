"""Load: when calls come, which keys they use, and how both grow with users."""
