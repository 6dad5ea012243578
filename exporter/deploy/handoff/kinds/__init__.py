"""One consumer a file."""
