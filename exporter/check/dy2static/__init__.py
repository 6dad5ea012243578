"""What Paddle's rewriting of the code does to it, by file and version."""
