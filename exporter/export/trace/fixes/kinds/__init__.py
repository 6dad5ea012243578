"""One defect of Paddle a file."""
