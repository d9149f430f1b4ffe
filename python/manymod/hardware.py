# SPDX-License-Identifier: Apache-2.0
"""Devices, variants, the tuning table that chooses among them, and the number of CPU threads."""

from __future__ import annotations

import os
from dataclasses import dataclass

from manymod import _core
from manymod.plan import OPERATIONS, checked_threads, clear_plans

__all__ = [
    "CudaSupport",
    "Device",
    "OpenclSupport",
    "Tuning",
    "TuningRow",
    "Variant",
    "cuda_support",
    "devices",
    "get_threads",
    "load_tuning",
    "opencl_support",
    "set_threads",
    "tuning",
    "variants",
]


@dataclass(frozen=True)
class Device:
    """One device.

    Attributes:
        name: ``"cpu"``, ``"cuda:0"``, ``"opencl:0"``.
        model: its product name.
        backend: ``"cpu"``, ``"cuda"`` or ``"opencl"``.
        features: instruction sets or compute capability; also ``"unknown-in-MANYMOD_HIDE_CPU:NAME"`` for
            each name in that environment variable that is no feature. Of a CUDA device: ``"sm_90"``; of an
            OpenCL device: ``"cpu"``, or ``"gpu"`` for all others.
        units: CPUs this process may run on, or multiprocessors or compute units of a GPU, 0 if unknown.
        memory_bytes: physical memory, 0 if unknown.
        obstacle: why nothing can run on it, empty if it can be used.
        index: K of ``"cuda:K"``, the index that DLPack, CuPy and PyTorch use, and of ``"opencl:K"``; 0 for
            the CPU.
    """

    name: str
    model: str
    backend: str
    features: tuple[str, ...]
    units: int
    memory_bytes: int
    obstacle: str
    index: int = 0


@dataclass(frozen=True)
class CudaSupport:
    """What this build and this machine have of CUDA.

    Attributes:
        built: whether the library has code for GPUs.
        driver: newest CUDA version that the NVIDIA driver supports, such as ``"13.0"``; empty if none.
        obstacle: why there is no CUDA device, empty if there is one.
    """

    built: bool
    driver: str
    obstacle: str


@dataclass(frozen=True)
class OpenclSupport:
    """What this machine has of OpenCL.

    Attributes:
        version: newest OpenCL version of a device, such as ``"3.0"``; empty if none.
        obstacle: why there is no OpenCL device, empty if there is one.
    """

    version: str
    obstacle: str


@dataclass(frozen=True)
class Variant:
    """One variant: technique + backend + shape.

    Attributes:
        name: what ``variant=`` takes, such as ``"scalar64.adx"``.
        technique: how it represents and multiplies numbers.
        backend: ``"cpu"``, ``"cuda"`` or ``"opencl"``.
        public_ops: operations that it offers in variable time.
        secret_ops: operations that it offers in constant time.
        min_bits: narrowest modulus in bits.
        max_bits: widest modulus in bits.
        instances: instances computed side by side by one thread or thread group.
        threads_per_instance: 1 on CPUs, lanes of a group on GPUs.
        needs: hardware features it needs.
        summary: one line about it.
        usable: whether it can run here.
        reason: why not, empty if usable.
        shared_modulus_ops: of its operations those that it computes in variable time only for several items
            with one modulus.
        comparison_only: registered to be compared with: chosen by name or by a tuning row alone.
        wants_fast_doubles: not chosen for a GPU whose FP64 is much slower than its FP32.
    """

    name: str
    technique: str
    backend: str
    public_ops: tuple[str, ...]
    secret_ops: tuple[str, ...]
    min_bits: int
    max_bits: int
    instances: int
    threads_per_instance: int
    needs: tuple[str, ...]
    summary: str
    usable: bool
    reason: str
    shared_modulus_ops: tuple[str, ...]
    comparison_only: bool = False
    wants_fast_doubles: bool = False


@dataclass(frozen=True)
class TuningRow:
    """A measured choice: of the rows that fit, the first whose variant can run here is used.

    Attributes:
        op: the operation.
        secret: whether it is for constant-time operations.
        min_bits: narrowest modulus that the row is for.
        max_bits: widest modulus that the row is for.
        min_items: least number of items, of those with as many limbs or of what full vectors leave of them.
        variant: the choice.
        evidence: the measurement.
    """

    op: str
    secret: bool
    min_bits: int
    max_bits: int
    min_items: int
    variant: str
    evidence: str


@dataclass(frozen=True)
class Tuning:
    """The tuning table in use.

    Attributes:
        source: path of its file, empty for the rows that come with this build.
        processor: where it was measured.
        date: when.
        notes: what of the file was left out, and why.
        rows: its rows, in order.
    """

    source: str
    processor: str
    date: str
    notes: tuple[str, ...]
    rows: tuple[TuningRow, ...]


def tuning() -> Tuning:
    """The tuning table in use: by which measurements variants are chosen.

    Raises:
        TuningError: if the environment variable ``MANYMOD_TUNING`` names a bad file.

    >>> all(row.evidence for row in tuning().rows)
    True
    """
    table = _core.tuning()
    rows = tuple(TuningRow(**{**row, "op": _core.OPERATIONS[row["op"]]}) for row in table["rows"])
    return Tuning(**{**table, "notes": tuple(table["notes"].splitlines()), "rows": rows})


def load_tuning(path: str | bytes | os.PathLike[str] | os.PathLike[bytes] | None) -> Tuning:
    """Choose variants by a tuning file, as `manymod tune` makes it, for plans made from now on.

    Args:
        path: the file; its rows take the place of this build's own for the operations and timing classes
            that it has rows for. None restores this build's own.

    Returns:
        The table now in use.

    Raises:
        TuningError: if the file is missing or malformed; the table in use then stays.
        ValueError: if the path has a null character.

    >>> load_tuning(None).source
    ''
    """
    name = None if path is None else os.fsencode(path)
    if name is not None and b"\0" in name:
        raise ValueError("path has a null character")
    _core.load_tuning(name)
    clear_plans()
    return tuning()


def devices() -> list[Device]:
    """All devices found; the CPU is the first.

    >>> devices()[0].name
    'cpu'
    """
    return [Device(**{**record, "features": tuple(record["features"].split())}) for record in _core.devices()]


def cuda_support() -> CudaSupport:
    """Whether GPUs can be used, and why not.

    >>> support = cuda_support()
    >>> bool(support.obstacle) == all(device.backend != "cuda" for device in devices())
    True
    """
    return CudaSupport(**_core.cuda_support())


def opencl_support() -> OpenclSupport:
    """Whether OpenCL devices can be used, and why not.

    This loads the OpenCL drivers, as `devices` and `variants` do: children that are forked off afterwards
    cannot use OpenCL devices.

    >>> support = opencl_support()
    >>> bool(support.obstacle) == all(device.backend != "opencl" for device in devices())
    True
    """
    return OpenclSupport(**_core.opencl_support())


def _operations(mask: int) -> tuple[str, ...]:
    return tuple(name for name, number in OPERATIONS.items() if mask >> number & 1)


def variants() -> list[Variant]:
    """All variants of this build, with whether and why not they can run here.

    >>> any(variant.usable and "powmod" in variant.secret_ops for variant in variants())
    True
    """
    return [
        Variant(
            **{
                **record,
                "public_ops": _operations(record["public_ops"]),
                "secret_ops": _operations(record["secret_ops"]),
                "shared_modulus_ops": _operations(record["shared_modulus_ops"]),
                "needs": tuple(record["needs"].split()),
            }
        )
        for record in _core.variants()
    ]


def get_threads() -> int:
    """Number of CPU threads used by calls without `threads`: by default the CPUs this process may run on."""
    return _core.get_threads()


def set_threads(threads: int) -> int:
    """Set the number of CPU threads used by calls without `threads`.

    Args:
        threads: 1 to 1024; 0 restores the default.

    Returns:
        The new number.

    Raises:
        ValueError: if `threads` is out of range.
        TypeError: if `threads` is not an integer.
    """
    number = _core.set_threads(checked_threads(threads))
    clear_plans()
    return number
