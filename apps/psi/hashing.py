# SPDX-License-Identifier: Apache-2.0
"""Hashing to prime fields: expand_message_xmd and hash_to_field of RFC 9380, section 5, with SHA-256."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from manymod import IntArray

__all__ = ["expand_messages", "hash_to_field"]

_DIGEST_BYTES, _BLOCK_BYTES = 32, 64
_PADDED = hashlib.sha256(bytes(_BLOCK_BYTES))


def expand_messages(messages: Iterable[bytes], tag: bytes, size: int) -> Iterator[bytes]:
    """`size` uniform bytes of each message (RFC 9380, section 5.3.1).

    Args:
        messages: of any lengths, which are not secret.
        tag: the domain separation tag, 1 to 255 bytes.
        size: up to 255 times 32.
    """
    rounds = -(-size // _DIGEST_BYTES)
    if not 1 <= len(tag) <= 255 or not 1 <= rounds <= 255:
        raise ValueError("a tag has 1 to 255 bytes, and an output 1 to 8160")
    suffix = tag + bytes([len(tag)])
    first_suffix = size.to_bytes(2, "big") + b"\0" + suffix
    suffixes = [bytes([number]) + suffix for number in range(1, rounds + 1)]
    sha256 = hashlib.sha256
    for message in messages:
        start = _PADDED.copy()
        start.update(message + first_suffix)
        seed = start.digest()
        block = sha256(seed + suffixes[0]).digest()
        blocks = [block]
        masked = int.from_bytes(seed, "big")
        for suffixed in suffixes[1:]:
            mixed = (masked ^ int.from_bytes(block, "big")).to_bytes(_DIGEST_BYTES, "big")
            block = sha256(mixed + suffixed).digest()
            blocks.append(block)
        yield b"".join(blocks)[:size]


def hash_to_field(messages: Iterable[bytes], tag: bytes, size: int, count: int) -> list[IntArray]:
    """`count` numbers of `size` bytes for each message, not yet reduced (RFC 9380, section 5.2).

    Modulo a prime of at most 8 size - 128 bits they are within 2^-128 of uniform.
    """
    expanded = list(expand_messages(messages, tag, size * count))
    return [
        IntArray.from_bytes([block[start : start + size] for block in expanded])
        for start in range(0, size * count, size)
    ]
