"""Comes in: a spec. Goes out: the checkpoint that it exports, found or made, with its metric by the recipe.

It may not know bundles: whatever is sealed later, the weights are settled here, once.
"""
