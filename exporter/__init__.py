"""Take a PaddlePaddle layer from eager code to a static artifact, and prove that it computes the same thing.

The way of the data stands in :mod:`exporter.pipeline`. Importing this package imports nothing else.
"""

__version__ = "0.1.0"
