"""Looking at a data file that may be damaged, and saving what is whole into a new one."""
