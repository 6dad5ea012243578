"""Imports PaddleSeg, for a fork server (`tests.zoo.children`)."""

from paddleseg import models  # noqa: F401
