"""Reading a generated module back: what it declares, by `ast` alone, and where a fence stands in instructions (I3).

Knows nothing of generators and link: what they write is the evidence, not the standard.
"""
