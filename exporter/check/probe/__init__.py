"""What running a model shows: children build, export and run it."""
