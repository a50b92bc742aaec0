"""First drafts: a Python declaration from a design file, a design file from a table in use."""
