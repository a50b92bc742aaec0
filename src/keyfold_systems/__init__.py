"""The five systems, each a design, a service and its demo data."""
