"""A trained network with its words in a folder."""
