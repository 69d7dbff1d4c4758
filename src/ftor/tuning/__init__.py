"""Searching for better hyperparameters, by the paper's protocol and over its spaces."""
