"""Abstract interpretation of the user's code: expressions, calls, statements, loops."""
