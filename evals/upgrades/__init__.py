"""What upgrades of Paddle and ONNX Runtime move in ten bundles."""
