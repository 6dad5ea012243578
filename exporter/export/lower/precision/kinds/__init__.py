"""One reduced precision a file."""
