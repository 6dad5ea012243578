"""Imports the files of PaddleRec's networks, for a fork server (`evals.zoo.children`)."""

from evals.zoo.families import recommend

recommend.modules()
