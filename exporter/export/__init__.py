"""Comes in: an eager layer with its weights, and the spec. Goes out: traced programs and the artifacts of each format.

It may not know engines, goldens or verdicts: whether a file is right is decided by `exporter.prove`.
"""
