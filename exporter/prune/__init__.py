"""Structured pruning: which channels a layer keeps (`plan`), and making it that layer (`shrink`); `search` chooses."""
