"""Programs as a container would run them: another user, a root that cannot be written, processes of their own.

There is no container engine here; bubblewrap gives what of it matters. The Python of the image's base is this one.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from aop_runtime.confinement.bubblewrap import bwrap

ROOT: Final = Path(__file__).parents[2]
CONTAINERFILE: Final = ROOT / "container" / "Containerfile"
USER: Final = "10001"
_BASE: Final = Path(sys.base_prefix)
_OF_ETC: Final = (
    *("alternatives", "ca-certificates", "group", "hosts", "ld.so.cache", "localtime", "nsswitch.conf", "passwd"),
    *("pip.conf", "resolv.conf", "ssl", "xdg"),
)
_CACHE: Final = Path(sys.prefix) / "container-cache"


def wall(binds: Mapping[str, tuple[Path, bool]], *, folder: str = "/", options: Sequence[str] = ()) -> list[str]:
    """bwrap and its arguments, for a command behind them. `binds`: place -> (what is there, whether it is writable);
    everything else can only be read, but for /tmp."""
    arguments = [bwrap(), "--unshare-user", "--unshare-pid", "--unshare-ipc", "--uid", USER, "--gid", USER]
    arguments += ["--die-with-parent", "--new-session", "--ro-bind", "/usr", "/usr"]
    for name in _OF_ETC:
        arguments += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    for name in ("bin", "sbin", "lib", "lib64"):
        if Path("/", name).is_symlink():
            arguments += ["--symlink", f"usr/{name}", f"/{name}"]
        elif Path("/", name).exists():
            arguments += ["--ro-bind", f"/{name}", f"/{name}"]
    if Path("/usr") != _BASE:
        arguments += ["--ro-bind", str(_BASE), "/usr/local"]
    arguments += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # noqa: S108 - inside of the wall
    for place, (what, writable) in binds.items():
        arguments += ["--bind" if writable else "--ro-bind", str(what), place]
    return [*arguments, "--remount-ro", "/", "--chdir", folder, *options]


@dataclass
class Built:
    """What a Containerfile made. `target`: of the last stage, place -> folder."""

    target: dict[str, Path] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    user: str = "root"
    workdir: str = "/"
    entrypoint: list[str] = field(default_factory=list)

    def binds(self) -> dict[str, tuple[Path, bool]]:
        return {place: (what, False) for place, what in self.target.items()}

    def variables(self, given: Mapping[str, str]) -> dict[str, str]:
        """Of a container: the image's, and those that it is given; nothing of this machine's."""
        return {**self.environment, "LD_LIBRARY_PATH": "/usr/local/lib", **given}


def instructions(text: str) -> list[tuple[str, str]]:
    """(name, arguments) in order, comments gone and lines joined."""
    whole = re.sub(r"\\\n\s*", " ", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE))
    found = [line.split(maxsplit=1) for line in whole.splitlines() if line.strip()]
    return [(name.upper(), arguments) for name, arguments in found]


def _copy(names: Iterable[str], into: Path, *, folder: bool) -> None:
    """What git knows, or would, of those paths of the checkout."""
    for name in names:
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z", "--", name],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split("\0")
        files = [Path(path) for path in listed if path and (ROOT / path).is_file()]
        assert files, f"{name} is not there to be copied"
        base = Path(name) if name.endswith("/") else Path(name).parent
        for path in files:
            place = into / path.relative_to(base) if folder else into
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, place)


def described(folder: Path) -> Built:
    """What `build` made in that folder before."""
    return _follow(folder, run=False)


def build(folder: Path) -> Built:
    """Every instruction of the Containerfile, its RUN steps behind the wall, as a user that is not root."""
    return _follow(folder, run=True)


def _follow(folder: Path, *, run: bool) -> Built:
    stages: dict[str, dict[str, Path]] = {}
    built = Built()
    for name, arguments in instructions(CONTAINERFILE.read_text(encoding="utf-8")):
        match name:
            case "FROM":
                stage = re.search(r"AS (\w+)$", arguments)
                label = stage[1] if stage else "last"
                places = {place: folder / label / place.strip("/") for place in ("/src", "/opt")}
                for path in places.values():
                    path.mkdir(parents=True, exist_ok=not run)
                stages[label] = places
                built = Built({"/opt": places["/opt"]})
            case "WORKDIR":
                built.workdir = arguments
            case "COPY" | "RUN" if not run:
                pass
            case "COPY":
                origin = re.match(r"--from=(\w+) (\S+) (\S+)$", arguments)
                if origin:
                    shutil.copytree(
                        stages[origin[1]]["/opt"] / Path(origin[2]).relative_to("/opt"),
                        built.target["/opt"] / Path(origin[3]).relative_to("/opt"),
                        symlinks=True,
                    )
                else:
                    *names, into = arguments.split()
                    _copy(names, places["/src"] / into, folder=into.endswith("/"))
            case "RUN":
                command = json.loads(arguments)
                binds = {place: (what, True) for place, what in places.items()}
                # How packages are reached from this machine; its cache, so that they are not fetched again and again.
                environment = {key: value for key, value in os.environ.items() if key.startswith("PIP_")}
                _CACHE.mkdir(parents=True, exist_ok=True)
                binds |= {"/cache": (_CACHE, True)}
                environment["PIP_CACHE_DIR"] = "/cache"
                done = subprocess.run(
                    [*wall(binds, folder=built.workdir), *command],
                    env={
                        "PATH": "/usr/local/bin:/usr/bin:/bin",
                        "HOME": "/tmp",  # noqa: S108 - inside of the wall
                        "LD_LIBRARY_PATH": "/usr/local/lib",
                        **environment,
                    },
                    capture_output=True,
                    text=True,
                    check=False,
                    timeout=600,
                )
                assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
            case "ENV":
                built.environment |= dict(pair.split("=", 1) for pair in shlex.split(arguments))
            case "USER":
                built.user = arguments
            case "ENTRYPOINT":
                built.entrypoint = json.loads(arguments)
            case "ARG" | "LABEL" | "EXPOSE" | "STOPSIGNAL" | "CMD":
                pass
            case _:
                raise AssertionError(f"{name} is not understood here")
    return built
