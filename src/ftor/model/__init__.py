"""Trained models: loading, saving, predictions and evaluation."""
