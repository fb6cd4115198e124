"""What the tests ask of a server, and what an operator has in a cluster before the chart comes."""

from __future__ import annotations

import time
from functools import cached_property
from http import HTTPStatus
from typing import Final, NamedTuple

import httpx2

from tests.chart.rendering import Object

OPERATORS: Final = {
    "keda.sh/v1alpha1": ("ScaledObject", "TriggerAuthentication"),
    "monitoring.coreos.com/v1": ("PodMonitor", "PrometheusRule", "ServiceMonitor"),
    "gateway.networking.k8s.io/v1": ("HTTPRoute",),
}
"""Kinds that the server is taught. It keeps them as they are written; `tests.chart.test_schemas` judges them."""

PRIORITIES: Final = ("bulk", "interactive", "urgent")
"""That value files name."""

RESTRICTED: Final[Object] = {
    "apiVersion": "policy/v1beta1",
    "kind": "PodSecurityPolicy",
    "metadata": {
        "name": "restricted",
        "annotations": {"seccomp.security.alpha.kubernetes.io/allowedProfileNames": "runtime/default"},
    },
    "spec": {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "requiredDropCapabilities": ["ALL"],
        "runAsUser": {"rule": "MustRunAsNonRoot"},
        "runAsGroup": {"rule": "MustRunAs", "ranges": [{"min": 1, "max": 65535}]},
        "fsGroup": {"rule": "MustRunAs", "ranges": [{"min": 1, "max": 65535}]},
        "supplementalGroups": {"rule": "MayRunAs", "ranges": [{"min": 1, "max": 65535}]},
        "seLinux": {"rule": "RunAsAny"},
        "volumes": ["configMap", "emptyDir", "secret", "projected", "persistentVolumeClaim"],
    },
}
"""What is now the Pod Security Standard `restricted`, and a read-only root, as 1.20 enforces it."""

_WAIT_S: Final = 30.0
_TWICE: Final = ("extensions/", "events.k8s.io/")
"""Groups whose objects are all in another one as well."""


class Rejected(Exception):
    """The server's words."""


class Resource(NamedTuple):
    api: str
    kind: str
    plural: str
    namespaced: bool

    def path(self, namespace: str) -> str:
        place = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        return f"/{'apis' if '/' in self.api else 'api'}/{self.api}{place}/{self.plural}"


class Cluster:
    """`home`: a home folder in which Helm finds the way to it."""

    def __init__(self, client: httpx2.Client, home: str) -> None:
        self._client = client
        self.home = home
        self._namespaces = 0

    def _said(self, method: str, path: str, given: Object | None = None, **options: str) -> Object:
        """Raises Rejected."""
        headers = {"Content-Type": "application/apply-patch+yaml"} if method == "PATCH" else {}
        answer = self._client.request(method, path, json=given, headers=headers, params=options)
        said: Object = answer.json()
        if answer.status_code >= HTTPStatus.BAD_REQUEST:
            raise Rejected(str(said["message"]))
        return said

    @property
    def version(self) -> str:
        return str(self._said("GET", "/version")["gitVersion"])

    # ------------------------------------------------------------------------------------------------------ kinds

    def _resources_of(self, path: str, api: str) -> list[Resource]:
        return [
            Resource(api, each["kind"], each["name"], each["namespaced"])
            for each in self._said("GET", path)["resources"]
            if "/" not in each["name"] and {"create", "list"} <= set(each["verbs"])
        ]

    @cached_property
    def resources(self) -> list[Resource]:
        """All that the server keeps, in every version that it has."""
        found = self._resources_of("/api/v1", "v1")
        for group in self._said("GET", "/apis")["groups"]:
            for version in group["versions"]:
                found += self._resources_of(f"/apis/{version['groupVersion']}", version["groupVersion"])
        return found

    def resource(self, found: Object) -> Resource:
        """Raises Rejected: the server has no such kind."""
        for resource in self.resources:
            if (resource.api, resource.kind) == (found["apiVersion"], found["kind"]):
                return resource
        raise Rejected(f"no kind {found['kind']} in {found['apiVersion']}")

    # ---------------------------------------------------------------------------------------------------- objects

    def holds(self, namespace: str = "") -> set[str]:
        """Identities of all objects of the namespace (where none is named, of all namespaces and outside of them), of
        whatever kind, whoever made them."""
        found: set[str] = set()
        for resource in self.resources:
            if (resource.namespaced or not namespace) and not resource.api.startswith(_TWICE):
                listed = self._said("GET", resource.path(namespace))["items"]
                found |= {f"{resource.kind}/{each['metadata']['name']}" for each in listed}
        return found

    def read(self, found: Object, namespace: str) -> Object:
        """As it is kept, in the version that the object is written in. Raises Rejected."""
        return self._said("GET", f"{self.resource(found).path(namespace)}/{found['metadata']['name']}")

    def create(self, found: Object, namespace: str = "", **options: str) -> Object:
        """What is kept (with dryRun=All: would be). Raises Rejected."""
        return self._said("POST", self.resource(found).path(namespace), found, **options)

    def try_to_apply(self, found: Object, namespace: str) -> Object:
        """What would be kept. The server knows every field, or says which it does not. Raises Rejected."""
        path = f"{self.resource(found).path(namespace)}/{found['metadata']['name']}"
        return self._said("PATCH", path, found, dryRun="All", fieldManager="tests")

    def finish(self, pod: Object, namespace: str, phase: str) -> bool:
        """Says of a pod that waits to be run what a kubelet would; False: none waits."""
        try:
            found = self.read(pod, namespace)
        except Rejected:
            return False
        if found["status"]["phase"] != "Pending":
            return False
        path = f"{self.resource(pod).path(namespace)}/{pod['metadata']['name']}/status"
        self._said("PUT", path, {**found, "status": {"phase": phase}})
        return True

    # ---------------------------------------------------------------------------------------------------- at first

    def prepare(self) -> None:
        """Kinds of operators, classes of priority, and the policy for pods."""
        for api, kinds in OPERATORS.items():
            for kind in kinds:
                self.create(_definition(api, kind))
        for name in PRIORITIES:
            priority = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}}
            self.create({**priority, "value": 1000})
        self.create(RESTRICTED)
        end = time.monotonic() + _WAIT_S
        wanted = {(api, kind) for api, kinds in OPERATORS.items() for kind in kinds}
        while wanted - {(each.api, each.kind) for each in self.resources}:
            assert time.monotonic() < end, "the server has not learned the operators' kinds"
            time.sleep(0.2)
            del self.resources

    def new_namespace(self) -> str:
        """With the account that a controller makes for pods that name none. It stays: nobody here can delete one."""
        self._namespaces += 1
        name = f"test-{self._namespaces}"
        self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        self.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}, name)
        return name


BEFORE: Final = frozenset({"ServiceAccount/default"})
"""What `Cluster.new_namespace` puts into one."""


def _definition(api: str, kind: str) -> Object:
    group, version = api.split("/")
    plural = f"{kind.lower()}s"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{plural}.{group}",
            "annotations": {"api-approved.kubernetes.io": "unapproved, a stand-in of tests"},
        },
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "versions": [{"name": version, "served": True, "storage": True, "schema": schema}],
        },
    }
