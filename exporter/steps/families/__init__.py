"""The families whose configuration files name steps, one file each."""
