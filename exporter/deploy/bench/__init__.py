"""How fast a bundle is, in each engine that runs it."""
