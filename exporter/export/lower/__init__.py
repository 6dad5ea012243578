"""From a traced program to the files of one format: one plugin a file, each run in a child of its own."""
