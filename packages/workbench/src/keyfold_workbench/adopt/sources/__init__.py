"""Sources of designs: one module per kind."""
