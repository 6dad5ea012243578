"""Comes in: nothing of ours. Goes out: errors, files, stored tensors, total readers of every format, norms.

It knows neither Paddle nor an engine, neither a spec nor a child process: every other room stands on it.
"""
