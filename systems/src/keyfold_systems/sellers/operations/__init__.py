"""What callers do, by subject."""
