"""Load: when calls come, which keys they ask for, and how all of it grows with the users."""
