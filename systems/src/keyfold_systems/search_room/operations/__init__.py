"""The operations of Search Room: rooms, then listings, then criteria."""
