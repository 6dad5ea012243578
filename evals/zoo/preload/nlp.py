"""Imports PaddleNLP, for a fork server (`evals.zoo.children`)."""

from evals.zoo import nlp

nlp.transformers()
