"""keyfold beside what people would use instead, measured in one run on one machine."""
