"""A program of its own: sets limits on itself, then becomes the confined program.

`python -I -S launch.py SETTINGS COMMAND…`, SETTINGS in JSON: `limits` (names of `resource.RLIMIT_*` and values), and,
where wanted, `parent` (end when that process ends), `user` (become this user and group, without capabilities),
`folder` (go there) and `processors` (use at most so many). Only the standard library: the confined side has no more.
"""

import json
import os
import resource
import sys

_PR_SET_PDEATHSIG = 1
_SIGKILL = 9


def main() -> None:
    settings = json.loads(sys.argv[1])
    command = sys.argv[2:]
    processors = settings.get("processors")
    if processors is not None:
        usable = sorted(os.sched_getaffinity(0))
        # Not always the first ones, or all that is confined would share them.
        start = os.getpid() % len(usable)
        os.sched_setaffinity(
            0, [usable[(start + place) % len(usable)] for place in range(min(processors, len(usable)))]
        )
    if settings.get("user") is not None:
        os.setgroups([])
        os.setgid(settings["user"])
        os.setuid(settings["user"])
    if settings.get("folder") is not None:
        # Only the user that it becomes may be able to.
        os.chdir(settings["folder"])
    for name, value in settings["limits"].items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        # At the softer limit comes a signal that says which limit it was; at the hard one an end without a word.
        spare = 1 if name == "CPU" and bound != hard else 0
        resource.setrlimit(kind, (bound, bound + spare))
    if settings.get("parent") is not None:
        # Kept across exec; set last, since a change of user takes it back.
        import ctypes  # noqa: PLC0415 - a third of this program's time, and seldom needed

        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
        if os.getppid() != settings["parent"]:
            sys.exit("the caller has ended")
    os.execv(command[0], command)  # noqa: S606 - what it is for


if __name__ == "__main__":
    main()
