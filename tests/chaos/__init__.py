"""A whole installation under fire: what is killed, lost, doubled, slow or wrong, and whether anything came of it."""
