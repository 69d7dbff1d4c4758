"""The race: candidates are trained for a while on a part of the pairs, and the best one on all of them."""
