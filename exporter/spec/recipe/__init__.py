"""What a user writes to train: a plain typed object in a file of `recipes/`."""
