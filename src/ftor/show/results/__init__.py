"""Tables and figures of recorded runs beside the paper's numbers."""
