"""Whether an artifact in an engine gives the same bits however it is run: which pairs of runs, and where they part."""
