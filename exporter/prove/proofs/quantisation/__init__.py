"""What the proofs of reduced-precision variants share: budgets, rounded weights, overflow, noise of layers."""
