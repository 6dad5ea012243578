"""The kinds of steps, one file each; the file's name is the step's name in a spec."""
