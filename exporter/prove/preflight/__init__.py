"""What can be known before a training is told before it: every step that comes later, tried on initial weights."""
