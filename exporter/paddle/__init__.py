"""What is asked of the Paddle of this process, whatever runs in it: which names are taken, what a crash does."""
