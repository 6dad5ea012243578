"""Comes in: a sealed bundle. Goes out: what a consumer takes, other runtimes' verdicts, archives, timings, comparisons.

It may not change a bundle or judge one in another way than `exporter.prove` does.
"""
