"""Imports PaddleNLP, for a fork server (`evals.zoo.children`)."""

from evals.zoo.families import nlp

nlp.transformers()
