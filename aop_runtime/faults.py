"""What can go wrong around a run that is not the run's own course: files, servers, models, records."""


class Fault(Exception):
    """The message is one sentence: what, where, and what to do. It holds no credential."""
