"""A bundle: the artifacts, their goldens and the verdict in one sealed folder that can be checked anywhere."""
