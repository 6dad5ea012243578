"""What is asked of the Paddle of this process: which names are taken, what a crash does, its device and threads."""
