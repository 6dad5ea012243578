"""Bisect a failure: the first stage, sublayer and source line that differ, and a reproducer."""
