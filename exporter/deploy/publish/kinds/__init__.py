"""One registry a file."""
