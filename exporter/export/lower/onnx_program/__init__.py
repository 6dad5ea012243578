"""ONNX straight from the program that PIR files hold: no tracing, no Paddle, no converter."""
