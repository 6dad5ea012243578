"""The steps before and after a network as Paddle operators, in one graph with it: raw bytes in, the answer out."""
