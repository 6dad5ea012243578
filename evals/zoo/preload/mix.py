"""Imports what PaddleMIX's networks share, for a fork server (`evals.zoo.children`)."""

from evals.zoo.families import mix

mix.packages()
