"""From a traced program to a plan: which channels hang together, which matter least, and proof of the cut."""
