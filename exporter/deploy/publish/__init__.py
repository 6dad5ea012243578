"""Registries of models: a bundle goes in whole, and what comes out is a stranger's until it is proven again."""
