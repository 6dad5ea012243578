"""Imports PaddleDetection, for a fork server (`evals.zoo.children`)."""

import ppdet.modeling  # noqa: F401
