"""Imports PaddleClas, for a fork server (`tests.zoo.children`)."""

from tests.zoo import clas

clas.architectures()
