"""Imports what PaddleX's networks share, for a fork server (`evals.zoo.children`)."""

from evals.zoo.families import paddlex

if paddlex.builders():
    for task in sorted({entry.task for entry in paddlex.ENTRIES}):
        paddlex.modeling(task)
