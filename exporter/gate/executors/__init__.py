"""Where the specs of a gate are released: one file an executor, found by its place."""
