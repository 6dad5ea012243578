"""What runs an artifact: one plugin a file, each in a child of its own."""
