"""Every table, board, plot and picture."""
