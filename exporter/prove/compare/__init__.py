"""What an engine computed against a golden: one output, all draws pooled, reduced precision; with negative controls."""
