"""What evidence reports beside the verdict: one metric a file, each `(reference, candidate) -> float`."""
