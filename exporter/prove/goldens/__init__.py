"""Recorded cases with their truth: which inputs, eager and float64 runs, coverage of forward; runs in a child."""
