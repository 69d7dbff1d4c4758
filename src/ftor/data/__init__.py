"""From text to batches: reading pairs, vocabularies, copying, alignments."""
