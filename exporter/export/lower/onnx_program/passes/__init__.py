"""Passes over the written graph, which take out its detours and fold what depends on constants alone.

The lowering writes each operator by itself: batch norms unfolded, sizes computed by Shape, Slice and Concat, a linear
layer as MatMul and Add. Engines undo most of that each time they load a file; quantisers do not, and then report
success over nothing. Each pass keeps every value: exactly where it moves data, to one rounding where it multiplies
weights.

Only the `onnx` package is used, and no engine's optimiser, so that the file does not depend on an engine's version, and
what was folded into a weight is known to the proof by content. The bodies of If and Loop are left as they are.
"""
