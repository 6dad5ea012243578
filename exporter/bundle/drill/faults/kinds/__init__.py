"""One family of faults a file."""
