"""Imports PaddleNLP, for a fork server (`tests.zoo.children`)."""

from tests.zoo import nlp

nlp.transformers()
