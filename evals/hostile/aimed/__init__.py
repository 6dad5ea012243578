"""Bundles that aim at a proof: each changes something that a proof has to see, and seals all else so that it agrees."""
