"""Forms in which findings are shown: one file a form."""
