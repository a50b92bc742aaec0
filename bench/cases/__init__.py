"""One module a family of cases; each has `CASES`."""
