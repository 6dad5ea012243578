"""Imports what PaddleSpeech's networks share, for a fork server (`evals.zoo.children`)."""

from evals.zoo.families import speech

speech.modules()
