"""Take a PaddlePaddle layer from eager code to a static artifact, and prove that it computes the same thing.

The way of the data stands in :mod:`exporter.pipeline`. Importing this package imports nothing heavy.
"""

from exporter.spec.public import offer

__version__ = "0.1.0"

offer()  # recipes say `from exporter.recipe.base import Recipe`
