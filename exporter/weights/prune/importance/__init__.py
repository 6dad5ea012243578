"""How much a filter matters: one measure a file, found by its place."""
