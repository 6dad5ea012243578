"""One kind of claim a file."""
