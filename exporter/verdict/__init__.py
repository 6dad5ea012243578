"""The verdict on a bundle: every proof plans its claims, then proves them; what is waived is told."""
