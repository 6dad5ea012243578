"""Steps before and after a model: from a raw sample to its inputs, and from its outputs to the answer."""
