"""Comes in: a typed request and limits. Goes out: a child's typed answer, or how it ended.

It may not know what any child computes; only `exporter.paddle` is below it, for what each child sets up first.
"""
