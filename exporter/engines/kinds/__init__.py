"""One engine a file."""
