"""Norms, metrics, intervals and the allowance for few numbers: numpy only."""
