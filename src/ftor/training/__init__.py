"""Training: the loop, its state and checkpoints, and the run that they belong to."""
