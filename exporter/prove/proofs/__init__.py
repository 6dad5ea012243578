"""The proofs: one file for each kind of claim. A proof plans its claims from the spec, then gathers the evidence."""
