"""Judge each operator of a PIR program at its own inputs: Paddle against the ONNX nodes that were written for it."""
