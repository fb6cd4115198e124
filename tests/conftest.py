"""Hypothesis: few examples by default, `HYPOTHESIS_PROFILE=nightly` for at least ten thousand a property."""

import os
import signal
from importlib.util import find_spec

from hypothesis import HealthCheck, settings

settings.register_profile("default", max_examples=50, deadline=None)
settings.register_profile(
    "nightly",
    max_examples=10_000,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# cmark is built with a C compiler, which `make test` does not ask for; `make reference` brings it and runs these.
collect_ignore = [] if find_spec("paka") else ["reference"]

# Who starts the tests in the background, or under nohup, has them ignore Ctrl-C and hanging up, and whatever they start
# as well; some of it is ended so on purpose.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
