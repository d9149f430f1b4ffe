# SPDX-License-Identifier: Apache-2.0
"""Throughput of operations on curves, alternating between manymod and others; and latencies of one item."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import statistics
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manymod import _core
from manymod.cli.bench.contenders import (
    BatchSettings,
    Contender,
    elapsed,
    in_pool,
    interleaved,
    medians,
    repeated,
)
from manymod.cli.bench.ecc_crypto_mb import CryptoMb, Operands
from manymod.cli.bench.ecc_limit import LANES, LIMIT, instructions
from manymod.cli.bench.ecc_peers import OpenSsl, Peer, Secp256k1
from manymod.ecc import Curve, Key, KeyRing, Prehashed, variants

__all__ = ["INCLUDED", "OPERATIONS", "EccCase", "measure", "operations_of"]

#: What the time of each contender includes.
INCLUDED = {
    "manymod": "calls with uint8[N, W] in and out and a key for each item, 1 thread; hash, nonce, its check",
    "manymod_threads": "the same, all threads asked for, as many times the batch",
    "openssl": "a loop of calls of the cryptography package on prepared keys, 1 thread",
    "openssl_threads": "the same in a pool of as many threads",
    "libsecp256k1": "a loop of calls through ctypes on prepared keys, 1 thread; exchange hashes the secret",
    "crypto_mb": "a loop of calls through ctypes on eight prepared items, 1 thread; digests, nonces given",
    "manymod_ring": "signing as above with keys of a KeyRing, whose public keys are known",
    "manymod_bare": "calls as above on the inputs of crypto_mb, signing with a KeyRing, without the check",
}
OPERATIONS = ("sign", "verify", "exchange", "public", "recover", "sum")
#: Items of a loop of another library, which computes them one by one, so that more would tell nothing.
_PEER_ITEMS = 64
_MESSAGE_BYTES = 32
_GROUP = 8


@dataclass(frozen=True)
class EccCase:
    """An operation on a curve; the sum of products k P is one of as many terms as a batch has items."""

    op: str
    curve: Curve
    #: Intel's library, where it is measured, too.
    crypto_mb: ctypes.CDLL | None = None


def operations_of(curve: Curve) -> tuple[str, ...]:
    """The operations that a curve has."""
    if curve.form == "montgomery":
        return ("exchange", "public")
    if curve.form == "edwards":
        return ("sign", "verify", "public", "sum")
    # There is no recovery on curves with a cofactor, and none of signatures of SM2.
    return tuple(op for op in OPERATIONS if op != "recover" or curve.name not in {"BLS12-381", "SM2"})


def _peers(curve: Curve) -> dict[str, Peer]:
    found: dict[str, Peer] = {"openssl": OpenSsl(curve)}
    if curve.name == "secp256k1":
        with contextlib.suppress(ImportError):
            found["libsecp256k1"] = Secp256k1()
    return found


class _Work:
    """One case: keys, inputs, and the calls of all libraries."""

    def __init__(self, case: EccCase, batch: int) -> None:
        self.case, self.curve = case, case.curve
        self.peers = {name: peer for name, peer in _peers(case.curve).items() if case.op in peer.operations}
        self.secrets, self.public_keys = self.curve.generate(batch)
        self.messages = _random_rows(batch, _MESSAGE_BYTES)
        self.scalars = _random_rows(batch, self.curve.scalar_bytes) if case.op == "sum" else self.secrets
        self.signatures: Any = None
        how: dict[str, Any] = {"encoding": "recoverable", "low_s": False} if case.op == "recover" else {}
        if case.op in {"verify", "recover"}:
            self.signatures = self.curve.sign(self.secrets, self.messages, device="cpu", **how)

    def own(self, count: int, threads: int) -> Callable[[], Any]:
        """One call of ours for `count` items, at most a batch or whole batches."""
        times = -(-count // len(self.secrets))

        def rows(array: NDArray[np.uint8]) -> NDArray[np.uint8]:
            return np.tile(array, (times, 1))[:count]

        secrets, public_keys, messages = rows(self.secrets), rows(self.public_keys), rows(self.messages)
        where: Any = {"device": "cpu", "threads": threads}
        if self.case.op == "verify":
            signatures = rows(self.signatures)
            return lambda: self.curve.verify(public_keys, signatures, messages, **where)
        if self.case.op == "recover":
            signatures = rows(self.signatures)
            return lambda: self.curve.recover(signatures, messages, low_s=False, **where)
        if self.case.op == "sum":
            scalars = rows(self.scalars)
            return lambda: self.curve.msm(scalars, public_keys, **where)
        if self.case.op == "sign":
            return lambda: self.curve.sign(secrets, messages, **where)
        if self.case.op == "exchange":
            others = np.roll(public_keys, 1, axis=0)
            return lambda: self.curve.exchange(secrets, others, **where)
        return lambda: self.curve.public_keys(secrets, **where)

    def ring(self) -> Callable[[], Any] | None:
        """A call of ours that signs with the keys of a ring; None for other operations."""
        if self.case.op != "sign":
            return None
        ring, indices = self._ring
        return lambda: ring.sign(self.messages, indices)

    @functools.cached_property
    def _ring(self) -> tuple[KeyRing, NDArray[np.uint32]]:
        """A ring of the keys, and the key of each item."""
        keys = [Key.from_secret(self.curve, row.tobytes()) for row in self.secrets]
        return KeyRing(keys, device="cpu", threads=1), np.arange(len(keys), dtype=np.uint32)

    def bare(self) -> Callable[[], Any] | None:
        """A call of ours on the inputs of crypto_mb; None where our usual call has the same inputs."""
        how: dict[str, Any] = {}
        messages = self.messages
        if self._is_ecdsa():
            messages, how["algorithm"] = self._digests(messages), Prehashed(self._hash())
        if self.case.op == "sign":
            if self.curve.form == "weierstrass":
                how["nonces"] = self._nonces(len(messages))
            ring, indices = self._ring
            return lambda: ring.sign(messages, indices, check=False, **how)
        if self.case.op == "verify" and self._is_ecdsa():
            how |= {"device": "cpu", "threads": 1}
            return lambda: self.curve.verify(self.public_keys, self.signatures, messages, **how)
        return None

    def crypto_mb(self) -> CryptoMb | None:
        """The case with items of the batch, if crypto_mb has it.

        Raises:
            ArithmeticError: unless both libraries agree on them.
        """
        library, op = self.case.crypto_mb, self.case.op
        if library is None or op not in CryptoMb.operations(self.curve):
            return None
        batch = len(self.secrets)
        count = max(min(batch, _PEER_ITEMS) // _GROUP, 1) * _GROUP
        items = np.arange(count) % batch
        messages = self._digests(self.messages) if self._is_ecdsa() else self.messages
        # It takes digests as numbers of the length of the field.
        padding = (self.curve.field_bits + 7) // 8 - messages.shape[1] if self._is_ecdsa() else 0
        operands = Operands(
            secrets=self.secrets[items],
            public_keys=self.public_keys[items],
            others=np.roll(self.public_keys, 1, axis=0)[items],
            messages=np.pad(messages[items], ((0, 0), (padding, 0))),
            nonces=self._nonces(count),
            signatures=None if self.signatures is None else self.signatures[items],
        )
        peer = CryptoMb(library, self.curve, op, operands)
        theirs = peer.results() if op != "verify" else np.array(peer.loop())
        if op == "verify":
            good = not theirs.any()
        elif op == "sign":
            good = all(self.curve.verify(operands.public_keys, theirs, self.messages[items]))
        else:
            ours = self.own(batch, 1)()[items]
            good = np.array_equal(theirs, ours)
        if not good:
            raise ArithmeticError(f"{op} on {self.curve.name}: results of crypto_mb differ")
        return peer

    def _is_ecdsa(self) -> bool:
        return self.curve.form == "weierstrass" and self.curve.name != "SM2"

    def _hash(self) -> str:
        bits = self.curve.order_bits
        return "sha256" if bits <= 256 else "sha384" if bits <= 384 else "sha512"

    def _digests(self, messages: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Digests of messages by the curve's usual hash."""
        digests = [hashlib.new(self._hash(), row.tobytes()).digest() for row in messages]
        return np.frombuffer(b"".join(digests), np.uint8).reshape(len(digests), -1)

    def _nonces(self, count: int) -> NDArray[np.uint8]:
        return self.curve.generate(count)[0]

    def peer_items(self, peer: Peer) -> tuple[list[Any], Callable[[Any], Any]]:
        """Prepared items of another library, and its call for one."""
        count = min(len(self.secrets), _PEER_ITEMS)
        secrets = [row.tobytes() for row in self.secrets[:count]]
        messages = [row.tobytes() for row in self.messages[:count]]
        publics = [peer.public(row.tobytes()) for row in self.public_keys[:count]]
        if self.case.op == "public":
            return secrets, lambda secret: peer.public_of(peer.private(secret))
        if self.case.op == "recover":
            signatures = [row.tobytes() for row in self.signatures[:count]]
            return list(zip(signatures, messages, strict=True)), lambda item: peer.recover(*item)
        privates = [peer.private(secret) for secret in secrets]
        if self.case.op == "sign":
            return list(zip(privates, messages, strict=True)), lambda item: peer.sign(*item)
        if self.case.op == "exchange":
            pairs = zip(privates, publics[-1:] + publics[:-1], strict=True)
            return list(pairs), lambda item: peer.exchange(*item)
        signatures = self.curve.sign(secrets, messages, encoding=peer.encoding, device="cpu")
        return list(zip(publics, signatures, messages, strict=True)), lambda item: peer.verify(*item)

    def check(self, peer: Peer) -> None:
        """Raise ArithmeticError unless both libraries agree on the items of the other one."""
        items, call = self.peer_items(peer)
        theirs, ours = [call(item) for item in items], self.own(len(items), 1)()
        if self.case.op == "verify":
            good = all(theirs) and bool(np.all(ours))
        elif self.case.op == "sign":
            good = self._are_signatures(peer, items, theirs)
        elif self.case.op == "exchange":
            good = all(
                peer.is_secret(row.tobytes(), secret) for row, secret in zip(ours, theirs, strict=True)
            )
        else:
            good = [peer.public_bytes(key) for key in theirs] == [row.tobytes() for row in ours]
        if not good:
            raise ArithmeticError(f"{self.case.op} on {self.curve.name}: results differ")

    def _are_signatures(self, peer: Peer, items: list[Any], theirs: list[bytes]) -> bool:
        """Whether each library accepts the signatures of the other one."""
        messages = [message for _, message in items]
        keys = [row.tobytes() for row in self.public_keys[: len(items)]]
        how: Any = {"encoding": peer.encoding, "low_s": None if peer.encoding == "raw" else False}
        ours = self.curve.sign([row.tobytes() for row in self.secrets[: len(items)]], messages, **how)
        accepted = [
            peer.verify(peer.public_of(private), signature, message)
            for (private, message), signature in zip(items, ours, strict=True)
        ]
        return all(accepted) and all(self.curve.verify(keys, theirs, messages, **how))


def _random_rows(count: int, width: int) -> NDArray[np.uint8]:
    return np.random.default_rng(1).integers(0, 256, (count, width), np.uint8)


def _contenders(work: _Work, settings: BatchSettings, pool: ThreadPoolExecutor) -> dict[str, Contender]:
    batch, many = settings.batch, settings.batch * settings.threads

    def of(items: int, threads: int) -> Contender:
        return repeated(work.own(items, threads), items, settings.seconds)

    found = {"manymod": of(batch, 1)}
    if (ring := work.ring()) is not None:
        found["manymod_ring"] = repeated(ring, batch, settings.seconds)
    if settings.threads > 1:
        found["manymod_threads"] = of(many, settings.threads)
    for name, peer in work.peers.items():
        work.check(peer)
        found[name] = _loop(*work.peer_items(peer), settings.seconds)
    if (intel := work.crypto_mb()) is not None:
        found["crypto_mb"] = repeated(intel.loop, intel.count, settings.seconds)
        if (bare := work.bare()) is not None:
            found["manymod_bare"] = repeated(bare, batch, settings.seconds)
    if settings.threads > 1 and "openssl" in work.peers:
        items, call = work.peer_items(work.peers["openssl"])
        shared = items * settings.threads

        def loop() -> Sequence[Any]:
            return in_pool(pool, settings.threads, shared, call)

        found["openssl_threads"] = repeated(loop, len(shared), settings.seconds)
    return found


def _loop(items: list[Any], call: Callable[[Any], Any], seconds: float) -> Contender:
    return repeated(lambda: [call(item) for item in items], len(items), seconds)


def _latencies(work: _Work) -> dict[str, float]:
    """Microseconds of one item: a call of ours, one of each other library."""
    calls: dict[str, Callable[[], Any]] = {"manymod": work.own(1, 1)}
    for name, peer in work.peers.items():
        items, call = work.peer_items(peer)
        calls[name] = lambda items=items, call=call: call(items[0])  # type: ignore[misc]
    return medians(calls)


def _rate(settings: BatchSettings) -> float | None:
    """Rate of the limit's instruction, the best of some, as others on the machine only slow it down."""
    measured = [_core.instruction_rate(LIMIT, settings.seconds / 10) for _ in range(settings.repetitions)]
    known = [rate for rate in measured if rate is not None]
    return max(known) if known else None


def _limit(case: EccCase, batch: int, rate: float | None, found: Mapping[str, Any]) -> dict[str, Any]:
    """The limit of one thread, where the variant that computes is the one that it counts."""
    if rate is None or variants(case.curve)[0] != "lanes.ifma52":
        return {}
    count = instructions(case.op, case.curve, batch)
    limit = LANES * rate / count
    return {
        "instructions": count,
        "instruction_rate": rate,
        "limit": limit,
        "percent_of_limit": 100 * found["rates"]["manymod"] / limit,
    }


def measure(case: EccCase, settings: BatchSettings) -> dict[str, Any]:
    """Rates (items a second, medians), their spread, ratios (medians over the repetitions), and latencies."""
    work = _Work(case, settings.batch)
    elapsed(work.own(settings.batch, 1))  # what a curve needs is precomputed by the first call
    with ThreadPoolExecutor(settings.threads) as pool:
        contenders = _contenders(work, settings, pool)
        before = _rate(settings)
        measured = interleaved(contenders, settings.repetitions)
        after = _rate(settings)
    rate = None if before is None or after is None else statistics.mean((before, after))
    return {
        "op": case.op,
        "curve": case.curve.name,
        "variant": variants(case.curve)[0],
        "batch": settings.batch,
        **measured,
        **_limit(case, settings.batch, rate, measured),
        "latency_us": _latencies(work),
    }
