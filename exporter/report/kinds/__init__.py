"""One form of a report a file."""
