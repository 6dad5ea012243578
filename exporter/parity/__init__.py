"""The proof: claims planned first, evidence gathered by engines in children, and a verdict that is their meeting."""
