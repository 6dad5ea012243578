"""The user's code, read but never run: modules, classes, names."""
