"""One cause of a difference between two chains of steps a file."""
