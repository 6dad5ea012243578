"""Drill: plant single faults in copies of a bundle's artifacts, and see which of them the gate catches."""
