"""Imports the files of PaddleTS's networks, for a fork server (`evals.zoo.children`)."""

from evals.zoo.families import series

series.modules()
