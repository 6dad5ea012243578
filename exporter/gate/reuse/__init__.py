"""What was done before and need not be done again: kept by everything that can change it, and believed by content."""
