"""One format a file: how to read its intermediate values."""
