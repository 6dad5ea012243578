"""What in the code of a model will not survive export: read, run on paper, judged by rules."""
