"""What calls into Python, NumPy, the standard library and Paddle give."""
