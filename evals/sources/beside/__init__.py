"""The same Paddle files given to exporter, paddle2onnx and p2o: what is right, what is wrong, and what it costs."""
