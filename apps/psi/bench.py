# SPDX-License-Identifier: Apache-2.0
"""Rates of the whole protocol, both parties on one CPU, beside openmined-psi and the powers alone by GMP."""

from __future__ import annotations

import secrets
from pathlib import Path

import gmpy2

import pairwise
from psi.groups import ffdhe2048_prime
from psi.p256 import hash_to_curve
from psi.parties import Client, Server, connect_pair

__all__ = ["bench"]

_PEER_POWERS = 64


def _protocol(group: str, ours: list[bytes], theirs: list[bytes]) -> None:
    with connect_pair() as (here, there):
        done = Server(group, theirs).start(there)
        found = Client(group, ours).run(here)
        done.result()
    if found.items != ours[: len(ours) // 2]:
        raise RuntimeError("wrong")


def _peer_protocol(ours: list[str], theirs: list[str]) -> None:
    import private_set_intersection.python as peer  # noqa: PLC0415 - no test has this package

    client, server = peer.client.CreateWithNewKey(True), peer.server.CreateWithNewKey(True)
    setup = server.CreateSetupMessage(1e-9, len(ours), theirs, peer.DataStructure.RAW)
    found = client.GetIntersection(setup, server.ProcessRequest(client.CreateRequest(ours)))
    if sorted(found) != list(range(len(ours) // 2)):
        raise RuntimeError("wrong")


def bench(items: int, output: Path | None) -> None:
    """Measure sets of `items` items each, half of them in common."""
    pairwise.pin_to_one_cpu()
    ours = [f"person-{number}@example.org" for number in range(items)]
    theirs = [f"person-{number}@example.org" for number in range(items // 2)]
    theirs += [f"other-{number}@example.org" for number in range(items // 2, items)]
    our_bytes, their_bytes = [item.encode() for item in ours], [item.encode() for item in theirs]
    p, few = ffdhe2048_prime(), items // 16

    def peer_powers() -> None:
        exponent = secrets.randbelow(p)
        for _ in range(_PEER_POWERS):
            gmpy2.powmod_sec(secrets.randbelow(p), exponent, p)

    rows = [
        pairwise.compare(
            "p256, items of each set",
            items,
            lambda: _protocol("p256", our_bytes, their_bytes),
            "openmined-psi",
            items,
            lambda: _peer_protocol(ours, theirs),
        ),
        pairwise.compare(
            "ffdhe2048, items of each set",
            few,
            lambda: _protocol("ffdhe2048", our_bytes[:few], our_bytes[: few // 2]),
            "4 powers an item by GMP",
            _PEER_POWERS // 4,
            peer_powers,
        ),
        pairwise.single("hash to P-256", items, lambda: hash_to_curve(our_bytes, b"bench")),
    ]
    pairwise.report(rows, output, ("openmined-psi", "gmpy2"))
