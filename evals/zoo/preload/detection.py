"""Imports PaddleDetection's newest, for a fork server (`evals.zoo.children`)."""

from evals.zoo.families import detection

if detection.package():
    import ppdet.modeling  # noqa: F401
