"""What a design does under load, before it is built."""
