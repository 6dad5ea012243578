"""One form of findings a file."""
