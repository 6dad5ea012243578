"""Claims, evidence, the plan and the verdict: what must not be said cannot be constructed."""
