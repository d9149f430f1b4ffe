# SPDX-License-Identifier: Apache-2.0
"""Audits of transparency logs: every signature, the Merkle tree, and proofs that an entry is in it.

>>> import io
>>> from manymod import ecc
>>> from log_audit import audit, generate, verify_head
>>> log = io.BytesIO()
>>> keys, log_key, head = generate(log, 40, damaged=[7])
>>> _ = log.seek(0)
>>> result = audit(log, keys, lambda index, reason: print(index, reason))
7 signature is not valid
>>> result.entries, result.bad, head.root == result.root
(40, 1, True)
>>> verify_head(head, ecc.Key.from_cryptography(log_key))
True
"""

from log_audit.audit import Audit, audit
from log_audit.entries import LogError, SigningKeys
from log_audit.generation import generate
from log_audit.head import TreeHead, verify_head
from log_audit.merkle import MerkleTree, inclusion_path, verify_inclusion

__all__ = [
    "Audit",
    "LogError",
    "MerkleTree",
    "SigningKeys",
    "TreeHead",
    "audit",
    "generate",
    "inclusion_path",
    "verify_head",
    "verify_inclusion",
]
