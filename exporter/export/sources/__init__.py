"""A model that exists as a file: `inference.json` or `.pdmodel`, and the layer that computes what its program says."""
