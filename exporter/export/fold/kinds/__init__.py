"""Steps as Paddle operators, one file each, under the names of the kinds of steps."""
