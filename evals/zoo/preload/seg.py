"""Imports PaddleSeg, for a fork server (`evals.zoo.children`)."""

from paddleseg import models  # noqa: F401
