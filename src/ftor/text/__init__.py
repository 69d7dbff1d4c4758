"""Strings and batches: reading, vocabularies, copying, aligning, datasets of tensors."""
