"""The numbers of a run for a viewer of curves, one file for each: `train --log NAME`."""
