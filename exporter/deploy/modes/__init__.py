"""`compare-modes`: one recipe trained, run and served by each of Paddle's modes, measured side by side."""
