"""Runtimes of devices that run here as well: their file made of a bundle's ONNX, run and judged before it leaves."""
