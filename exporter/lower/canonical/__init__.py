"""The canonical form of an ONNX file: the graph that paddle2onnx wrote, without its detours.

paddle2onnx 2.1.0 writes every weight as a Constant node, leaves batch norm unfolded, adds a convolution's bias by
Reshape and Add, flattens by Shape, Slice, Concat and Reshape, and calls dims DynamicDimension.0. Engines undo most of
that each time they load the file; quantisers do not, and then report success over nothing. Here each detour is taken
out once, by a pass that keeps every value: exactly where it moves data, to one rounding where it multiplies weights.

Only the `onnx` package is used, and no engine's optimiser, so that the file does not depend on an engine's version.
The bodies of If, Loop and Scan are left as they are.
"""
