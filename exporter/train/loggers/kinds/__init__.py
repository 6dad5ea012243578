"""One log of a training a file."""
