"""The rules, by what they are about. Each module exports its `RULES` and one check that finds what breaks them."""
