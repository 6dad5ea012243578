"""One editable format a file."""
