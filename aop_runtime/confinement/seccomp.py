"""System calls that confined code does not get: what escapes from namespaces, what reaches past the network's, what
takes memory that no limit counts. A classic BPF program, as seccomp(2) takes it.
"""

from __future__ import annotations

import platform
import struct
from collections.abc import Mapping
from typing import Final

_EPERM: Final = 1
_ENOSYS: Final = 38
_EAFNOSUPPORT: Final = 97

_LOAD: Final = 0x20  # BPF_LD | BPF_W | BPF_ABS
_EQUAL: Final = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_AT_LEAST: Final = 0x35  # BPF_JMP | BPF_JGE | BPF_K
_ANY_BIT: Final = 0x45  # BPF_JMP | BPF_JSET | BPF_K
_RETURN: Final = 0x06  # BPF_RET | BPF_K

_NUMBER: Final = 0  # offsets in struct seccomp_data
_ARCHITECTURE: Final = 4
_FIRST_ARGUMENT: Final = 16

_ALLOW: Final = 0x7FFF0000
_KILL: Final = 0x80000000
_ERROR: Final = 0x00050000

_CLONE_NEWUSER: Final = 0x10000000
_FAMILIES: Final = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6; AF_VSOCK for one knows no network namespace
_X32: Final = 0x40000000

# From 424 on, all architectures have the same numbers.
_SAME: Final = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428, "move_mount": 429,
    "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "mount_setattr": 442, "memfd_secret": 447,
}  # fmt: skip

_X86_64: Final = {
    **_SAME,
    "unshare": 272, "setns": 308, "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "keyctl": 250,
    "add_key": 248, "request_key": 249, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "memfd_create": 319,
    "shmget": 29, "mq_open": 240, "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312,
    "kexec_load": 246, "kexec_file_load": 320, "init_module": 175, "finit_module": 313, "delete_module": 176,
    "open_by_handle_at": 304, "name_to_handle_at": 303, "swapon": 167, "swapoff": 168, "reboot": 169, "acct": 163,
    "syslog": 103, "quotactl": 179, "iopl": 172, "ioperm": 173,
}  # fmt: skip

_AARCH64: Final = {
    **_SAME,
    "unshare": 97, "setns": 268, "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51, "keyctl": 219,
    "add_key": 217, "request_key": 218, "bpf": 280, "perf_event_open": 241, "userfaultfd": 282, "memfd_create": 279,
    "shmget": 194, "mq_open": 180, "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272,
    "kexec_load": 104, "kexec_file_load": 294, "init_module": 105, "finit_module": 273, "delete_module": 106,
    "open_by_handle_at": 265, "name_to_handle_at": 264, "swapon": 224, "swapoff": 225, "reboot": 142, "acct": 89,
    "syslog": 116, "quotactl": 60,
}  # fmt: skip

_CLONE3: Final = 435


def program(machine: str | None = None) -> bytes | None:
    """The filter for this machine, or for `machine` as `platform.machine` names it; None: there is none for it."""
    machine = platform.machine() if machine is None else machine
    if machine == "x86_64":
        return _program(0xC000003E, _X86_64, socket=41, clone=56)
    if machine == "aarch64":
        return _program(0xC00000B7, _AARCH64, socket=198, clone=220)
    return None


def _program(architecture: int, refused: Mapping[str, int], *, socket: int, clone: int) -> bytes:
    steps: list[bytes] = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, architecture, 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
        # The other numbering of x86-64; no number of any architecture is as large.
        _step(_AT_LEAST, _X32, 0, 1),
        _step(_RETURN, _ERROR | _ENOSYS),
        # Its flags lie in memory, where a filter cannot look; libraries then use clone.
        _step(_EQUAL, _CLONE3, 0, 1),
        _step(_RETURN, _ERROR | _ENOSYS),
    ]
    for number in sorted(refused.values()):
        steps += [_step(_EQUAL, number, 0, 1), _step(_RETURN, _ERROR | _EPERM)]
    steps += [
        _step(_EQUAL, clone, 0, 4),
        _step(_LOAD, _FIRST_ARGUMENT),
        _step(_ANY_BIT, _CLONE_NEWUSER, 0, 1),
        _step(_RETURN, _ERROR | _EPERM),
        _step(_RETURN, _ALLOW),
        _step(_EQUAL, socket, 0, len(_FAMILIES) + 2),
        _step(_LOAD, _FIRST_ARGUMENT),
    ]
    for place, family in enumerate(_FAMILIES):
        steps.append(_step(_EQUAL, family, len(_FAMILIES) - place, 0))
    steps += [_step(_RETURN, _ERROR | _EAFNOSUPPORT), _step(_RETURN, _ALLOW)]
    return b"".join(steps)


def _step(code: int, value: int, if_so: int = 0, if_not: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_so, if_not, value)
