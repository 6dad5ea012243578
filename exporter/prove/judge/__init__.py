"""Judge a bundle: plan, prove, waive, report."""
