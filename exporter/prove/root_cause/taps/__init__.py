"""Make an artifact put out its intermediate values: one file a format, by editing bytes, without any engine."""
