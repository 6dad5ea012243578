"""`drill`: mutants of artifacts, killed by the proofs or equivalent."""
