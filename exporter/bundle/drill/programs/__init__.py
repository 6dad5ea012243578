"""Programs that can be edited: one file a format."""
