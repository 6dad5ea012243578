"""The gate of a project: which of its specs a change touches."""
