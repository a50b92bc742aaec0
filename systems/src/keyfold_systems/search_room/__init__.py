"""Search Room: people look for a home together."""
