"""Imports PaddleClas, for a fork server (`evals.zoo.children`)."""

from evals.zoo.families import clas

clas.architectures()
