"""Training: data, the loop, evaluation, checkpoints and runs."""
