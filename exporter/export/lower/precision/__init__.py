"""From an fp32 artifact to one of lower precision: one plugin a file, each run in a child of its own."""
