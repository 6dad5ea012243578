"""The kinds of faults that can be planted: one file a family."""
