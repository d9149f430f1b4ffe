# SPDX-License-Identifier: Apache-2.0
"""Merkle trees against the recursive definition of RFC 9162 and roots of Certificate Transparency."""

from __future__ import annotations

from hashlib import sha256

import pytest

from log_audit import MerkleTree, inclusion_path, verify_inclusion
from log_audit.merkle import leaf_hash

# Leaves and roots of the tests of google/certificate-transparency.
LEAVES = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


def root(leaves: list[bytes]) -> bytes:
    """MTH of RFC 9162, section 2.1.1, over hashes of leaves."""
    if len(leaves) == 1:
        return leaves[0]
    half = 1 << ((len(leaves) - 1).bit_length() - 1)
    return sha256(b"\1" + root(leaves[:half]) + root(leaves[half:])).digest()


def path(index: int, leaves: list[bytes]) -> list[bytes]:
    """PATH of RFC 9162, section 2.1.3.1."""
    if len(leaves) == 1:
        return []
    half = 1 << ((len(leaves) - 1).bit_length() - 1)
    if index < half:
        return [*path(index, leaves[:half]), root(leaves[half:])]
    return [*path(index - half, leaves[half:]), root(leaves[:half])]


HASHES = [leaf_hash(b"%d" % number) for number in range(40)]


def test_roots() -> None:
    tree = MerkleTree()
    for text, expected in zip(LEAVES, ROOTS, strict=True):
        tree.append(leaf_hash(bytes.fromhex(text)))
        assert tree.root().hex() == expected
    tree = MerkleTree()
    for size, leaf in enumerate(HASHES, 1):
        tree.append(leaf)
        assert (tree.size, tree.root()) == (size, root(HASHES[:size]))


@pytest.mark.parametrize("size", range(1, 40))
def test_paths(size: int) -> None:
    """Every path is the definition's, proves its leaf, and nothing else."""
    leaves = HASHES[:size]
    for index in range(size):
        found = inclusion_path(iter(HASHES), index, size)
        assert found == path(index, leaves)
        assert verify_inclusion(leaves[index], index, size, found, root(leaves))
        wrong = [
            (leaves[index - 1], index, size, found) if size > 1 else (bytes(32), index, size, found),
            (leaves[index], (index + 1) % size, size, found) if size > 1 else (leaves[index], 1, size, found),
            (leaves[index], index, size, [*found, bytes(32)]),
            (leaves[index], index, size, found[:-1]) if found else (leaves[index], -1, size, found),
            (leaves[index], size, size, found),
        ]
        for case in wrong:
            assert not verify_inclusion(*case, root(leaves))


def test_what_cannot_be_proved() -> None:
    for index in (-1, 3):
        with pytest.raises(ValueError, match=f"no entry {index} in a tree of 3"):
            inclusion_path(HASHES, index, 3)
    with pytest.raises(ValueError, match="40 entries, fewer than the tree's 41"):
        inclusion_path(HASHES, 0, 41)
