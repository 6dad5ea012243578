"""Run a model on paper: an interpreter of Python with values that have no numbers, and the facts it gathers."""
