"""Imports PGL's convolutions, for a fork server (`evals.zoo.children`)."""

from evals.zoo.families import graphs

graphs.convolutions()
