"""Comes in: artifacts, a spec and recorded cases. Goes out: goldens, evidence for each claim, a verdict, and its blame.

It may not know bundles, nor how a checkpoint came to be; what judges never runs in a process that imported the model.
"""
