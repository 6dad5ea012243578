"""Reports: one form a file, each a pure function of a `Report`."""
