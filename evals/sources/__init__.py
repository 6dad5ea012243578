"""Files of a model instead of its layer."""
