"""Imports PaddleDetection, for a fork server (`tests.zoo.children`)."""

import ppdet.modeling  # noqa: F401
