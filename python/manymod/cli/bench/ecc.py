# SPDX-License-Identifier: Apache-2.0
"""Throughput of operations on curves, alternating between manymod and OpenSSL; and latencies of one item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manymod.cli.bench.contenders import (
    BatchSettings,
    Contender,
    elapsed,
    in_pool,
    interleaved,
    medians,
    repeated,
)
from manymod.ecc import Curve, Key

__all__ = ["INCLUDED", "OPERATIONS", "EccCase", "measure", "operations_of"]

#: What the time of each contender includes.
INCLUDED = {
    "manymod": "calls with uint8[N, W] in and out and a key for each item, 1 thread; hash, nonce, its check",
    "manymod_threads": "the same, all threads asked for, as many times the batch",
    "openssl": "a loop of calls of the cryptography package on prepared keys, 1 thread",
    "openssl_threads": "the same in a pool of as many threads",
}
OPERATIONS = ("sign", "verify", "exchange", "public")
#: Items that OpenSSL has in a loop: it computes them one by one, so that more would tell nothing.
_PEER_ITEMS = 64
_MESSAGE_BYTES = 32


@dataclass(frozen=True)
class EccCase:
    """An operation (sign, verify, exchange, public) on a curve."""

    op: str
    curve: Curve


def operations_of(curve: Curve) -> tuple[str, ...]:
    """The operations that a curve has."""
    if curve.form == "montgomery":
        return ("exchange", "public")
    return tuple(op for op in OPERATIONS if curve.form == "weierstrass" or op != "exchange")


class _Peer:
    """The cryptography package, as far as it has the curve."""

    def __init__(self, curve: Curve) -> None:
        from cryptography.hazmat.primitives import hashes  # noqa: PLC0415 (optional)
        from cryptography.hazmat.primitives.asymmetric import (  # noqa: PLC0415
            ec,
            ed448,
            ed25519,
            x448,
            x25519,
        )

        named: dict[str, Any] = {
            "P-256": ec.SECP256R1,
            "P-384": ec.SECP384R1,
            "P-521": ec.SECP521R1,
            "secp256k1": ec.SECP256K1,
            "brainpoolP256r1": ec.BrainpoolP256R1,
            "brainpoolP384r1": ec.BrainpoolP384R1,
            "brainpoolP512r1": ec.BrainpoolP512R1,
        }
        strings: dict[str, Any] = {
            "Ed25519": (ed25519.Ed25519PrivateKey, ed25519.Ed25519PublicKey),
            "Ed448": (ed448.Ed448PrivateKey, ed448.Ed448PublicKey),
            "X25519": (x25519.X25519PrivateKey, x25519.X25519PublicKey),
            "X448": (x448.X448PrivateKey, x448.X448PublicKey),
        }
        usual = {"P-384": hashes.SHA384(), "P-521": hashes.SHA512()}
        self._curve: Any = named[curve.name]() if curve.name in named else None
        self._kinds = strings.get(curve.name)
        self.known = self._curve is not None or self._kinds is not None
        self._ecdsa, self._ecdh = ec.ECDSA(usual.get(curve.name, hashes.SHA256())), ec.ECDH()
        self._derive, self._public = ec.derive_private_key, ec.EllipticCurvePublicKey.from_encoded_point

    def private(self, secret: bytes) -> Any:
        """A private key."""
        if self._kinds is not None:
            return self._kinds[0].from_private_bytes(secret)
        return self._derive(int.from_bytes(secret, "big"), self._curve)

    def public(self, point: bytes) -> Any:
        """A public key."""
        if self._kinds is not None:
            return self._kinds[1].from_public_bytes(point)
        return self._public(self._curve, point)

    def sign(self, key: Any, message: bytes) -> bytes:
        """A signature: DER, or that of EdDSA."""
        signature: bytes = key.sign(message, *([] if self._kinds else [self._ecdsa]))
        return signature

    def verify(self, key: Any, signature: bytes, message: bytes) -> bool:
        """True for a valid signature, DER or that of EdDSA; any other raises."""
        return key.verify(signature, message, *([] if self._kinds else [self._ecdsa])) is None

    def exchange(self, key: Any, other: Any) -> bytes:
        """The shared secret."""
        secret: bytes = key.exchange(other) if self._kinds else key.exchange(self._ecdh, other)
        return secret

    def public_bytes(self, secret: bytes) -> Any:
        """The public key of a private key."""
        return self.private(secret).public_key()


class _Work:
    """One case: keys, inputs, and the calls of both libraries."""

    def __init__(self, case: EccCase, batch: int) -> None:
        self.case, self.curve, self.peer = case, case.curve, _Peer(case.curve)
        self.secrets, self.public_keys = self.curve.generate(batch)
        self.messages = _random_rows(batch, _MESSAGE_BYTES)
        self.signatures: Any = None
        if case.op == "verify":
            self.signatures = self.curve.sign(self.secrets, self.messages, device="cpu")

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
        if self.case.op == "sign":
            return lambda: self.curve.sign(secrets, messages, **where)
        if self.case.op == "exchange":
            others = np.roll(public_keys, 1, axis=0)
            return lambda: self.curve.exchange(secrets, others, **where)
        return lambda: self.curve.public_keys(secrets, **where)

    def peer_items(self) -> tuple[list[Any], Callable[[Any], Any]]:
        """Prepared items of the other library, and its call for one."""
        count = min(len(self.secrets), _PEER_ITEMS)
        secrets = [row.tobytes() for row in self.secrets[:count]]
        messages = [row.tobytes() for row in self.messages[:count]]
        publics = [self.peer.public(row.tobytes()) for row in self.public_keys[:count]]
        if self.case.op == "public":
            return secrets, self.peer.public_bytes
        privates = [self.peer.private(secret) for secret in secrets]
        if self.case.op == "sign":
            return list(zip(privates, messages, strict=True)), lambda item: self.peer.sign(*item)
        if self.case.op == "exchange":
            pairs = zip(privates, publics[-1:] + publics[:-1], strict=True)
            return list(pairs), lambda item: self.peer.exchange(*item)
        signatures = self.curve.sign(secrets, messages, encoding=self._encoding, device="cpu")
        return list(zip(publics, signatures, messages, strict=True)), lambda item: self.peer.verify(*item)

    @property
    def _encoding(self) -> Any:
        return "der" if self.curve.form == "weierstrass" else "raw"

    def check(self) -> None:
        """Raise ArithmeticError unless both libraries agree on the items of the other one."""
        items, call = self.peer_items()
        theirs, ours = [call(item) for item in items], self.own(len(items), 1)()
        if self.case.op == "verify":
            good = all(theirs) and bool(np.all(ours))
        elif self.case.op == "sign":
            messages = [message for _, message in items]
            keys = [row.tobytes() for row in self.public_keys[: len(items)]]
            how: Any = {"encoding": self._encoding, "low_s": False}
            good = all(self.curve.verify(keys, theirs, messages, **how))
            signatures = self.curve.sign(
                [row.tobytes() for row in self.secrets[: len(items)]], messages, **how
            )
            for (private, message), signature in zip(items, signatures, strict=True):
                self.peer.verify(private.public_key(), signature, message)
        elif self.case.op == "exchange":
            good = [row.tobytes() for row in ours] == theirs
        else:
            good = [Key.from_cryptography(key).public_bytes() for key in theirs] == [
                row.tobytes() for row in ours
            ]
        if not good:
            raise ArithmeticError(f"{self.case.op} on {self.curve.name}: results differ")


def _random_rows(count: int, width: int) -> NDArray[np.uint8]:
    return np.random.default_rng(1).integers(0, 256, (count, width), np.uint8)


def _contenders(work: _Work, settings: BatchSettings, pool: ThreadPoolExecutor) -> dict[str, Contender]:
    batch, many = settings.batch, settings.batch * settings.threads
    found = {"manymod": repeated(work.own(batch, 1), batch, settings.seconds)}
    if settings.threads > 1:
        found["manymod_threads"] = repeated(work.own(many, settings.threads), many, settings.seconds)
    if not work.peer.known:
        return found
    work.check()
    items, call = work.peer_items()
    found["openssl"] = repeated(lambda: [call(item) for item in items], len(items), settings.seconds)
    if settings.threads > 1:
        shared = items * settings.threads

        def loop() -> Sequence[Any]:
            return in_pool(pool, settings.threads, shared, call)

        found["openssl_threads"] = repeated(loop, len(shared), settings.seconds)
    return found


def _latencies(work: _Work) -> dict[str, float]:
    """Microseconds of one item: a call of ours, one of OpenSSL."""
    calls: dict[str, Callable[[], Any]] = {"manymod": work.own(1, 1)}
    if work.peer.known:
        items, call = work.peer_items()
        calls["openssl"] = lambda: call(items[0])
    return medians(calls)


def measure(case: EccCase, settings: BatchSettings) -> dict[str, Any]:
    """Rates (items a second, medians), ratios (medians over the repetitions) and latencies."""
    work = _Work(case, settings.batch)
    elapsed(work.own(settings.batch, 1))  # what a curve needs is precomputed by the first call
    with ThreadPoolExecutor(settings.threads) as pool:
        measured = interleaved(_contenders(work, settings, pool), settings.repetitions)
    return {
        "op": case.op,
        "curve": case.curve.name,
        "batch": settings.batch,
        **measured,
        "latency_us": _latencies(work),
    }
