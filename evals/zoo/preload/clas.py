"""Imports PaddleClas, for a fork server (`evals.zoo.children`)."""

from evals.zoo import clas

clas.architectures()
