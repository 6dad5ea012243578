"""From a recipe to a checkpoint: the run in the main process (`run`), the rest in a child."""
