# SPDX-License-Identifier: Apache-2.0
"""The adapters by name, and rows of peers."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from manymod._extras import missing_extra
from manymod.lab.machine import Machine
from manymod.lab.model import RowError, Unavailable
from manymod.lab.peers.libraries import Loop, crypto_mb_powers, gmp_powers, openssl_powers, secp256k1_keys
from manymod.lab.recipes.arithmetic import power
from manymod.lab.recipes.params import Params
from manymod.lab.recipes.programs import check_row, read_report
from manymod.lab.recipes.schemes import private_key, rsa
from manymod.lab.work import Plan, Result, Work, sampler

__all__ = ["PEERS", "peer"]


#: Items of this library's calls, as `bench/peers` has them.
_OWN_ITEMS = 64
#: Libraries that no adapter can call, and what a report with them would need.
_ABSENT = {
    "cupqc": "cuPQC is a library of device code of NVIDIA for registered developers "
    "(developer.nvidia.com/cupqc), without powers modulo n: nothing of it compares with a row here",
}


def _own(params: Params, machine: Machine, plan: Plan) -> list[Work]:
    """This library in the same rows: one thread, as many items in one call as the others have in a loop."""
    common = {"on": "cpu", "bits": params["bits"], "batch": _OWN_ITEMS, "threads": 1}
    if params["operation"] == "powmod":
        return power({**common, "secret": True, "techniques": ["library"]}, machine, plan)
    if params["operation"] == "rsa":
        return rsa(common, machine, plan)
    from manymod.ecc import P256, SECP256K1  # noqa: PLC0415 (only rows of curves need it)

    options: dict[str, Any] = {"device": "cpu", "threads": 1}
    curve = SECP256K1 if params["operation"] == "secp256k1" else P256
    secrets, public_keys = curve.generate(1024)
    if params["operation"] == "secp256k1":
        call = functools.partial(curve.public_keys, secrets, **options)
    else:
        call = functools.partial(curve.exchange, secrets, np.roll(public_keys, 1, axis=0), **options)
    facts = {"device": "cpu", "batch": len(secrets), "threads": 1}
    return [Work("manymod", sampler(call, len(secrets), one_thread=True), facts)]


def _openssl_scheme(params: Params, _machine: Machine) -> Loop:
    """RSA signatures of digests, public keys and ECDH by the cryptography package."""
    try:
        from cryptography.hazmat.backends.openssl import backend  # noqa: PLC0415 (optional)
        from cryptography.hazmat.primitives import hashes  # noqa: PLC0415
        from cryptography.hazmat.primitives.asymmetric import ec, padding, utils  # noqa: PLC0415
    except ImportError:
        raise Unavailable(str(missing_extra("OpenSSL beside manymod", "bench"))) from None
    version = f"{backend.openssl_version_text()}, by the cryptography package"
    if params["operation"] == "rsa":
        key = private_key(params["bits"])
        how = (padding.PKCS1v15(), utils.Prehashed(hashes.SHA256()))
        digest = os.urandom(32)
        key.public_key().verify(key.sign(digest, *how), digest, *how)
        return lambda: key.sign(digest, *how), 1, version
    if params["operation"] == "secp256k1":
        curve = ec.SECP256K1()
        scalar = int.from_bytes(os.urandom(31), "big") + 1
        return lambda: ec.derive_private_key(scalar, curve), 1, version
    mine, theirs = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    public = theirs.public_key()
    if mine.exchange(ec.ECDH(), public) != theirs.exchange(ec.ECDH(), mine.public_key()):
        raise RowError("OpenSSL: a shared secret is wrong")
    return lambda: mine.exchange(ec.ECDH(), public), 1, version


def _openssl(params: Params, machine: Machine) -> Loop:
    if params["operation"] == "powmod":
        return openssl_powers(params["bits"], machine)
    return _openssl_scheme(params, machine)


_LOOPS: dict[str, Callable[[Params, Machine], Loop]] = {
    "gmp": lambda params, machine: gmp_powers(params["bits"], machine),
    "openssl": _openssl,
    "crypto_mb": lambda params, machine: crypto_mb_powers(params["bits"], machine),
    "libsecp256k1": lambda params, machine: secp256k1_keys(params["bits"], machine),
}


def _read_report(machine: Machine, name: str, how: str, rows: str) -> dict[str, Any]:
    """The report of a program that no call here can reach; `rows` is the member with what it measured."""
    file = machine.reports.get(name)
    if file is None:
        raise Unavailable(f"no report: {how}, then --report {name}=FILE")
    return read_report(file, name, rows=rows)


def _best(runs: list[dict[str, Any]], what: str, name: str, texts: Sequence[str] = ()) -> dict[str, Any]:
    if not runs:
        raise Unavailable(f"the report has no {what}")
    for run in runs:
        check_row(run, name, texts)
    return max(runs, key=lambda run: float(run["per_second"]))


def _result(report: Mapping[str, Any], best: Mapping[str, Any], what: str) -> list[Result]:
    facts = {name: report.get(name) for name in ("driver", "date", "commit")}
    facts.update(device="cuda:0", model=report.get("card"))
    return [Result(what, (float(best["per_second"]),), facts)]


def _cgbn(params: Params, machine: Machine) -> list[Result]:
    """CGBN's best shape, from the report of `bench/cuda/peers/run.py`."""
    how = "build CGBN's driver by bench/cuda/peers (its README says how) and run its run.py --json FILE"
    report = _read_report(machine, "cgbn", how, "best")
    runs = [
        run
        for run in report["best"]
        if (run.get("operation"), run.get("bits")) == ("power", params["bits"]) and not run.get("wrong", True)
    ]
    best = _best(runs, f"powers of {params['bits']} bits", "cgbn")
    return _result(report, best, f"CGBN, {best.get('threads_per_instance', '?')} threads an instance")


def _gecc(_params: Params, machine: Machine) -> list[Result]:
    """gECC's best batch, from the report of `bench/peers/gpu_curves.py`."""
    how = "build gECC's driver by bench/peers/gpu_curves.sh and run bench/peers/gpu_curves.py --json FILE"
    report = _read_report(machine, "gecc", how, "rows")
    wanted = {"library": "gecc", "operation": "multiply", "scope": "kernels", "right": True}
    runs = [run for run in report["rows"] if wanted.items() <= run.items()]
    best = _best(runs, "right multiples of points by gECC", "gecc", ["shape"])
    return _result(report, best, f"gECC, {best.get('items', '?')} items, {best['shape']}")


#: Programs of which reports are read.
_REPORTS: dict[str, Callable[[Params, Machine], list[Result]]] = {"cgbn": _cgbn, "gecc": _gecc}
PEERS = ("manymod", *_LOOPS, *_REPORTS, *_ABSENT)


def peer(params: Params, machine: Machine, plan: Plan) -> list[Work] | list[Result]:
    """A row of another library, or of this one beside it.

    Raises:
        Unavailable: if the library is absent; the message says how to get it.
    """
    name = params["peer"]
    if name == "manymod":
        return _own(params, machine, plan)
    if name in _ABSENT:
        raise Unavailable(f"absent: {_ABSENT[name]}")
    if name in _REPORTS:
        return _REPORTS[name](params, machine)
    loop, count, version = _LOOPS[name](params, machine)
    facts = {"device": "cpu", "threads": 1, "batch": count, "library": version}
    return [Work(name, sampler(loop, count, one_thread=True), facts)]
