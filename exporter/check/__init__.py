"""What in the code of a model will not survive export: read, interpreted abstractly, judged by rules."""
