"""Texts that a save only refers to: fetched by the parse worker, never while somebody waits for an answer.

Of one that is larger than a document may be, one byte more than that is fetched: the compiler says that it is too
large, as of any other document.
"""
