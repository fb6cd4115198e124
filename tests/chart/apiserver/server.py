"""An API server of Kubernetes on this machine, and nothing else of a cluster: etcd and kube-apiserver, on loopback.

No controller, scheduler or kubelet runs: objects are judged, completed and kept, and nobody acts on them.
"""

from __future__ import annotations

import secrets
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Final

import httpx2
import yaml
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from workers.children import die_with_parent
from workers.local.servers import HOST, LocalServer, ServerNotStarted, free_ports

PROGRAMS: Final = Path(sys.prefix) / "apiserver"
_START_S: Final = 120.0
_LOOK_S: Final = 0.3


class _Program(LocalServer):
    """One of what `build.sh` left. `folder`: what it keeps, and its log. It ends with the thread that starts it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True)

    def _begin(self, name: str, *options: str) -> None:
        """Raises ServerNotStarted."""
        program = PROGRAMS / name
        if not program.exists():
            raise ServerNotStarted(f"{program} is missing: `make chart-apiserver` builds it from Debian's packages")
        log = self._folder / f"{name}.log"
        with log.open("wb") as said:
            self._process = subprocess.Popen(
                [program, *options],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
                preexec_fn=die_with_parent,  # noqa: PLW1509 - one system call
            )
        self._wait_for_answer(name, log, _START_S, _LOOK_S)


class Etcd(_Program):
    """What it keeps need not survive a power cut, so it syncs nothing."""

    url = ""

    def start(self) -> None:
        """Raises ServerNotStarted."""
        client, peer = (f"http://{HOST}:{port}" for port in free_ports(2))
        self.url = client
        self._begin(
            "etcd",
            "--data-dir=data",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync",
            "--log-level=warn",
        )

    def _answers(self) -> bool:
        try:
            return httpx2.get(f"{self.url}/health", timeout=5, trust_env=False).is_success
        except httpx2.HTTPError:
            return False


class KubeApiserver(_Program):
    """One user, who may do everything, has a token; nobody else is let in. `home` holds a `.kube/config` for that user.

    Beside its usual admission plug-ins it has PodSecurityPolicy, as this version enforces what is now the Pod Security
    Standard: with no policy it admits no pod at all (`tests.chart.apiserver.cluster` makes the restricted one). A
    job's `ttlSecondsAfterFinished`, which this version forgets by default, is kept.
    """

    def __init__(self, folder: Path, etcd: Etcd) -> None:
        super().__init__(folder)
        self._etcd = etcd
        self._token = secrets.token_hex(16)
        self._certificate = folder / "certificates" / "apiserver.crt"
        self.home = folder / "home"
        self.url = ""

    def start(self) -> None:
        """Raises ServerNotStarted."""
        (port,) = free_ports(1)
        self.url = f"https://{HOST}:{port}"
        users, key = self._folder / "users.csv", self._folder / "accounts.pem"
        users.touch(mode=0o600)
        users.write_text(f"{self._token},installer,installer,system:masters\n")
        key.touch(mode=0o600)
        key.write_bytes(
            generate_private_key(65537, 2048).private_bytes(
                Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()
            )
        )
        self._begin(
            "kube-apiserver",
            f"--etcd-servers={self._etcd.url}",
            f"--bind-address={HOST}",
            f"--advertise-address={HOST}",
            f"--secure-port={port}",
            f"--cert-dir={self._certificate.parent}",
            f"--token-auth-file={users}",
            "--anonymous-auth=false",
            "--authorization-mode=RBAC",
            "--enable-admission-plugins=PodSecurityPolicy",
            "--feature-gates=TTLAfterFinished=true",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--endpoint-reconciler-type=none",
        )
        self._write_configuration()

    def _write_configuration(self) -> None:
        path = self.home / ".kube" / "config"
        path.parent.mkdir(parents=True)
        path.touch(mode=0o600)
        cluster = {"server": self.url, "certificate-authority": str(self._certificate)}
        configuration = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "tests", "cluster": cluster}],
            "users": [{"name": "installer", "user": {"token": self._token}}],
            "contexts": [{"name": "tests", "context": {"cluster": "tests", "user": "installer"}}],
            "current-context": "tests",
        }
        path.write_text(yaml.safe_dump(configuration))

    def client(self) -> httpx2.Client:
        return httpx2.Client(
            base_url=self.url,
            headers={"Authorization": f"Bearer {self._token}"},
            verify=ssl.create_default_context(cafile=str(self._certificate)),
            trust_env=False,
            timeout=30,
        )

    def _answers(self) -> bool:
        if not self._certificate.exists():
            return False
        try:
            with self.client() as client:
                return client.get("/readyz").is_success
        except (httpx2.HTTPError, ssl.SSLError):
            return False
