"""Examines a data file that may be damaged, and rescues intact data into a new one."""
