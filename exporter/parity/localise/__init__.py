"""Where a fault came in: the stage, and the first sublayer whose output leaves the budget."""
