"""What can go wrong around a run that is not the run's own course: files, servers, models, records."""

from aop_runtime.messages import Message, Value, Worded


class Fault(Worded):
    """`key` is a message's in `aop_runtime.messages`: one sentence on what, where, and what to do, without a
    credential."""

    def __init__(self, key: str, /, **values: Value) -> None:
        super().__init__(Message(key, **values))
