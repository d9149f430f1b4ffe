# SPDX-License-Identifier: Apache-2.0
"""Merkle trees of RFC 9162, section 2.1 (as of RFC 6962), with SHA-256, from leaves that come one by one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

__all__ = ["MerkleTree", "inclusion_path", "leaf_hash", "verify_inclusion"]


def leaf_hash(entry: bytes) -> bytes:
    """Hash of a leaf."""
    return sha256(b"\0" + entry).digest()


def _node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\1" + left + right).digest()


class MerkleTree:
    """The root of a growing list of leaves, in memory of the logarithm of its length.

    >>> tree = MerkleTree()
    >>> tree.root().hex()[:16]
    'e3b0c44298fc1c14'
    >>> tree.append(leaf_hash(b""))
    >>> tree.size, tree.root().hex()[:16]
    (1, '6e340b9cffb37a98')
    """

    def __init__(self) -> None:
        self.size = 0
        self._complete: list[bytes] = []  # roots of complete subtrees, whose sizes are the bits of `size`

    def append(self, leaf: bytes) -> None:
        """Add the hash of the next leaf."""
        node, size = leaf, self.size
        while size & 1:
            node = _node_hash(self._complete.pop(), node)
            size >>= 1
        self._complete.append(node)
        self.size += 1

    def root(self) -> bytes:
        """The tree's hash."""
        if not self._complete:
            return sha256().digest()
        node = self._complete[-1]
        for left in reversed(self._complete[:-1]):
            node = _node_hash(left, node)
        return node


def _siblings(index: int, size: int) -> list[tuple[int, int]]:
    """Ranges of leaves whose hashes are the inclusion path of a leaf, from the leaf up to the root."""
    ranges = []
    start, stop = 0, size
    while stop - start > 1:
        middle = start + (1 << ((stop - start - 1).bit_length() - 1))
        if index < middle:
            ranges.append((middle, stop))
            stop = middle
        else:
            ranges.append((start, middle))
            start = middle
    return ranges[::-1]


def inclusion_path(leaves: Iterable[bytes], index: int, size: int) -> list[bytes]:
    """The path that proves leaf `index` of the first `size` ones (RFC 9162, section 2.1.3.1), in one pass.

    Args:
        leaves: their hashes, in order.
        index: 0 <= index < size.
        size: of the tree.

    Raises:
        ValueError: if there is no such leaf, or there are fewer leaves than `size`.
    """
    if not 0 <= index < size:
        raise ValueError(f"no entry {index} in a tree of {size}")
    ranges = _siblings(index, size)
    trees = {start: MerkleTree() for start, _ in ranges}
    current, count = MerkleTree(), 0
    for leaf in leaves:
        if count == size:
            break
        current = trees.get(count, current)
        if count == index:
            current = MerkleTree()  # of the leaf itself, which is no part of the path
        current.append(leaf)
        count += 1
    if count < size:
        raise ValueError(f"{count} entries, fewer than the tree's {size}")
    return [trees[start].root() for start, _ in ranges]


def verify_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Whether a path proves that a leaf is in a tree (RFC 9162, section 2.1.3.2).

    Args:
        leaf: its hash.
        index: its position.
        size: of the tree.
        path: hashes from the leaf's sibling up.
        root: of the tree.
    """
    if not 0 <= index < size:
        return False
    position, last, node = index, size - 1, leaf
    for other in path:
        if last == 0:
            return False
        if position & 1 or position == last:
            node = _node_hash(other, node)
            while not position & 1 and position:
                position, last = position >> 1, last >> 1
        else:
            node = _node_hash(node, other)
        position, last = position >> 1, last >> 1
    return last == 0 and node == root
