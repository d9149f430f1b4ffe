# SPDX-License-Identifier: Apache-2.0
"""Throughput of RSA operations, alternating between manymod and OpenSSL; and latencies of one item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from manymod.cli.bench.contenders import BatchSettings, Contender, in_pool, interleaved, medians, repeated
from manymod.rsa import KeyRing, PrivateKey, Signer

__all__ = ["INCLUDED", "RsaCase", "measure", "signing_key"]

#: What the time of each contender includes.
INCLUDED = {
    "manymod": "calls with lists of bytes in and out, 1 thread; hash, padding, blinding, check of the result",
    "manymod_threads": "the same, all threads asked for, as many times the batch",
    "openssl": "a loop of calls of the cryptography package, 1 thread",
    "openssl_threads": "the same in a pool of as many threads",
}


@dataclass(frozen=True)
class RsaCase:
    """An operation (sign, verify, encrypt, decrypt), a size, and a padding (pkcs1v15, pss, oaep)."""

    op: str
    bits: int
    padding: str


class _Work:
    """One case: keys, inputs, and the calls of both libraries."""

    def __init__(self, case: RsaCase) -> None:
        from cryptography.hazmat.primitives import hashes  # noqa: PLC0415 (optional)
        from cryptography.hazmat.primitives.asymmetric import padding, rsa  # noqa: PLC0415

        self.case = case
        self._hash = hashes.SHA256()
        mgf = padding.MGF1(self._hash)
        self.padding: Any = {
            "pkcs1v15": padding.PKCS1v15(),
            "pss": padding.PSS(mgf, padding.PSS.DIGEST_LENGTH),
            "oaep": padding.OAEP(mgf, self._hash, None),
        }[case.padding]
        self.peer = rsa.generate_private_key(65537, case.bits)
        self.key = PrivateKey.from_cryptography(self.peer)

    def items(self, count: int) -> list[Any]:
        """Messages; with their signatures to verify; ciphertexts to decrypt."""
        messages = [b"message %d" % number for number in range(count)]
        if self.case.op == "verify":
            signatures = self.key.sign(messages, self.padding, self._hash)
            return list(zip(signatures, messages, strict=True))
        return (
            self.key.public_key().encrypt(messages, self.padding) if self.case.op == "decrypt" else messages
        )

    def own(self, items: list[Any], threads: int) -> Callable[[], Sequence[Any]]:
        """One call of ours."""
        ring = KeyRing([self.key], device="cpu", threads=threads)
        if self.case.op == "verify":
            signatures, messages = map(list, zip(*items, strict=True))
            return lambda: ring.verify(signatures, messages, None, self.padding, self._hash)
        if self.case.op == "sign":
            return lambda: ring.sign(items, None, self.padding, self._hash)
        function = getattr(ring, self.case.op)
        return lambda: function(items, None, self.padding)

    def peer_call(self, item: Any) -> Any:
        """One item by OpenSSL."""
        if self.case.op == "sign":
            return self.peer.sign(item, self.padding, self._hash)
        if self.case.op == "verify":
            return self._public.verify(*item, self.padding, self._hash) is None
        if self.case.op == "encrypt":
            return self._public.encrypt(item, self.padding)
        return self.peer.decrypt(item, self.padding)

    @property
    def _public(self) -> Any:
        return self.peer.public_key()

    def check(self, items: list[Any], answer: Sequence[Any]) -> None:
        """Raise ArithmeticError unless the first, middle and last results are right by the other library."""
        for index in {0, len(answer) // 2, len(answer) - 1}:
            item, result = items[index % len(items)], answer[index]
            if self.case.op == "verify":
                good = result is True
            elif self.case.op == "sign":
                good = self.key.public_key().verify(result, item, self.padding, self._hash)
                self._public.verify(result, item, self.padding, self._hash)
            elif self.case.op == "encrypt":
                good = self.peer.decrypt(result, self.padding) == item
            else:
                good = result == b"message %d" % (index % len(items))
            if not good:
                raise ArithmeticError(f"{self.case.op} {self.case.bits} bits: item {index} is wrong")


def _contenders(work: _Work, settings: BatchSettings, pool: ThreadPoolExecutor) -> dict[str, Contender]:
    items = work.items(settings.batch)
    many = items * settings.threads

    found = {
        "manymod": repeated(work.own(items, 1), len(items), settings.seconds),
        "openssl": repeated(lambda: [work.peer_call(item) for item in items], len(items), settings.seconds),
    }
    if settings.threads > 1:
        loop = work.own(many, settings.threads)
        found["manymod_threads"] = repeated(loop, len(many), settings.seconds)
        found["openssl_threads"] = repeated(
            lambda: in_pool(pool, settings.threads, many, work.peer_call), len(many), settings.seconds
        )
    for contender in found.values():
        work.check(items, contender.loop())
    return found


def _latencies(work: _Work) -> dict[str, float]:
    """Microseconds of one item: a call of ours, one through an idle signer, one of OpenSSL."""
    item = work.items(1)
    calls: dict[str, Callable[[], Any]] = {
        "manymod": work.own(item, 1),
        "openssl": lambda: work.peer_call(item[0]),
    }
    if work.case.op != "sign":
        return medians(calls)
    with Signer(KeyRing([work.key], device="cpu"), work.padding, "sha256") as signer:
        return medians({**calls, "signer": lambda: signer.sign(item[0])})


def signing_key(bits: int) -> PrivateKey:
    """A fresh key."""
    from cryptography.hazmat.primitives.asymmetric import rsa  # noqa: PLC0415 (optional)

    return PrivateKey.from_cryptography(rsa.generate_private_key(65537, bits))


def measure(case: RsaCase, settings: BatchSettings) -> dict[str, Any]:
    """Rates (items a second, medians), ratios (medians over the repetitions) and latencies."""
    work = _Work(case)
    with ThreadPoolExecutor(settings.threads) as pool:
        contenders = _contenders(work, settings, pool)
        measured = interleaved(contenders, settings.repetitions)
    return {
        "op": case.op,
        "bits": case.bits,
        "padding": case.padding,
        "batch": settings.batch,
        **measured,
        "latency_us": _latencies(work),
    }
