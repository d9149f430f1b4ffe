# SPDX-License-Identifier: Apache-2.0
"""The audit: batches of entries, whose signatures are verified while the next ones are read and hashed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

import manymod
from log_audit.entries import Entry, LogError, SigningKeys, read_entries
from log_audit.merkle import MerkleTree, leaf_hash

__all__ = ["Audit", "audit"]

_GROUP_BYTES = 16 << 20  # of entries that end a batch, as each may have MAX_MESSAGE of them

#: reports the index of a bad entry and why it is bad
OnBad = Callable[[int, str], None]


@dataclass(frozen=True)
class Audit:
    """What an audit found.

    Attributes:
        entries: how many there are.
        bad: how many of them have no valid signature.
        root: of the Merkle tree of all of them, good or bad.
    """

    entries: int
    bad: int
    root: bytes


@dataclass(frozen=True)
class _Pending:
    """A batch that is being verified: the items of each kind, and their verdicts to come."""

    first: int
    unknown: list[int]
    parts: list[tuple[list[int], Future[Any]]]

    def bad(self) -> list[tuple[int, str]]:
        """The bad entries of the batch, in order, once all verdicts are there."""
        found = [(item, "there is no such key") for item in self.unknown]
        for items, verdicts in self.parts:
            found += [
                (item, "signature is not valid")
                for item, good in zip(items, verdicts.result(), strict=True)
                if not good
            ]
        return sorted((self.first + item, reason) for item, reason in found)


def _submitted(entries: list[Entry], keys: SigningKeys, first: int) -> _Pending:
    """Begin to verify a batch."""
    numbers = np.array([entry.key for entry in entries])
    known = numbers < len(keys.keys)
    kinds = np.where(known, keys.kinds[np.minimum(numbers, len(keys.keys) - 1)], -1)
    parts = []
    for kind, ring, how in (
        (0, keys.rsa, {"padding": "pkcs1v15", "algorithm": "sha256"}),
        (1, keys.ecc, {"encoding": "der"}),
    ):
        items = np.flatnonzero(kinds == kind).tolist()
        if ring is None or not items:
            continue
        signatures = [entries[item].signature for item in items]
        messages = [entries[item].message for item in items]
        verify: Callable[..., Any] = ring.verify
        verdicts = manymod.submit(verify, signatures, messages, keys.places[numbers[items]], **how)
        parts.append((items, verdicts))
    return _Pending(first, np.flatnonzero(~known).tolist(), parts)


def audit(log: BinaryIO, keys: SigningKeys, on_bad: OnBad, batch: int = 8192, ahead: int = 3) -> Audit:
    """Verify every entry of a log and compute the root of its Merkle tree, in one pass.

    Args:
        log: a stream from the first entry on.
        keys: of the signers.
        on_bad: called for each entry whose signature is not valid, in order.
        batch: entries that are verified together at most: a batch ends with the entry by which it has 16 MiB.
        ahead: batches that are verified while the next one is read: ahead + 1 are in memory at most.

    Raises:
        LogError: naming the entry from which on the stream is no log; those before it were reported.
        ValueError: if `batch` is less than 1, or `ahead` than 0.
    """
    if batch < 1 or ahead < 0:
        raise ValueError(f"batch must be at least 1 and ahead at least 0, not {batch} and {ahead}")
    tree = MerkleTree()
    pending: deque[_Pending] = deque()
    bad = 0

    def report(limit: int) -> None:
        nonlocal bad
        while len(pending) > limit:
            for index, reason in pending.popleft().bad():
                bad += 1
                on_bad(index, reason)

    entries = read_entries(log)
    try:
        for group in _groups(entries, batch):
            pending.append(_submitted(group, keys, tree.size))
            for entry in group:
                tree.append(leaf_hash(entry.encoded))
            report(ahead)
    finally:
        report(0)
    return Audit(tree.size, bad, tree.root())


def _groups(entries: Iterator[Entry], size: int) -> Iterator[list[Entry]]:
    """Lists of `size` entries, or of fewer that have `_GROUP_BYTES`.

    Where reading fails, first those that were read.
    """
    group: list[Entry] = []
    held = 0
    try:
        for entry in entries:
            group.append(entry)
            held += len(entry.encoded)
            if len(group) == size or held >= _GROUP_BYTES:
                yield group
                group, held = [], 0
    except (LogError, OSError):
        if group:
            yield group
        raise
    if group:
        yield group
