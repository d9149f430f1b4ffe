# SPDX-License-Identifier: Apache-2.0
"""Signed tree heads (RFC 6962, section 3.5): the log's signature of its size and root."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import Any

from json_fields import read_fields
from manymod import ecc

__all__ = ["TreeHead", "sign_head", "verify_head"]

_SIGNED = struct.Struct(">BBQQ32s")
_VERSION_1, _TREE_HASH = 0, 1


@dataclass(frozen=True)
class TreeHead:
    """A tree head.

    Attributes:
        size: number of entries.
        timestamp: milliseconds since 1970.
        root: of the Merkle tree, 32 bytes.
        signature: the log's, by ECDSA with SHA-256, in DER.
    """

    size: int
    timestamp: int
    root: bytes
    signature: bytes

    def to_json(self) -> str:
        """As text."""
        return json.dumps(
            {
                "size": self.size,
                "timestamp": self.timestamp,
                "root": self.root.hex(),
                "signature": self.signature.hex(),
            },
            indent=1,
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> TreeHead:
        """From text, or its bytes.

        Raises:
            ValueError: if it is none.
        """

        def read(fields: Any) -> TreeHead:
            root, signature = bytes.fromhex(fields["root"]), bytes.fromhex(fields["signature"])
            head = cls(int(fields["size"]), int(fields["timestamp"]), root, signature)
            head.signed_bytes()
            return head

        return read_fields(text, "a tree head", read)

    def signed_bytes(self) -> bytes:
        """What the log signs.

        Raises:
            ValueError: if a number does not fit into 64 bits, or the root has not 32 bytes.
        """
        if len(self.root) != 32:
            raise ValueError("a root has 32 bytes")
        if not (0 <= self.size < 1 << 64 and 0 <= self.timestamp < 1 << 64):
            raise ValueError("size and timestamp have 64 bits")
        return _SIGNED.pack(_VERSION_1, _TREE_HASH, self.timestamp, self.size, self.root)


def sign_head(size: int, timestamp: int, root: bytes, key: ecc.Key) -> TreeHead:
    """A tree head signed by the log's private key."""
    unsigned = TreeHead(size, timestamp, root, b"")
    return TreeHead(size, timestamp, root, key.sign(unsigned.signed_bytes(), encoding="der"))


def verify_head(head: TreeHead, key: ecc.Key) -> bool:
    """Whether the log with this key signed the head."""
    return bool(key.verify(head.signature, head.signed_bytes(), encoding="der"))
