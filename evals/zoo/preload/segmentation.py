"""Imports PaddleSeg's newest, for a fork server (`evals.zoo.children`)."""

from evals.zoo.checkouts import checkout
from evals.zoo.families import segmentation

if root := checkout("segmentation", "paddleseg"):
    segmentation.models("paddleseg", root)
