# SPDX-License-Identifier: Apache-2.0
"""The command line: a log is a folder of entries, keys of its signers, the log's key and its tree head."""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from command_line import add_bench, positive_count, read_file, run_command
from json_fields import read_fields
from log_audit.audit import audit
from log_audit.entries import SigningKeys, read_entries
from log_audit.generation import check_counts, generate
from log_audit.head import TreeHead, verify_head
from log_audit.merkle import inclusion_path, leaf_hash, verify_inclusion
from manymod import ecc

_ENTRIES, _KEYS, _LOG_KEY, _HEAD = "entries", "keys.pem", "log.pem", "head.json"


def _generate(arguments: argparse.Namespace) -> None:
    check_counts(arguments.entries, arguments.keys)
    if not 0 <= arguments.damaged <= arguments.entries:
        raise ValueError(f"damaged must be 0 to {arguments.entries} entries, not {arguments.damaged}")
    damaged = random.SystemRandom().sample(range(arguments.entries), arguments.damaged)
    arguments.folder.mkdir()
    with open(arguments.folder / _ENTRIES, "wb") as log:
        keys, log_key, head = generate(log, arguments.entries, keys=arguments.keys, damaged=set(damaged))
    (arguments.folder / _KEYS).write_bytes(keys.to_pem())
    (arguments.folder / _LOG_KEY).write_bytes(SigningKeys([log_key]).to_pem())
    (arguments.folder / _HEAD).write_text(head.to_json() + "\n", encoding="utf-8")


def _head(folder: Path) -> tuple[TreeHead, bool]:
    """The tree head, and whether its signature is valid."""
    head = read_file(folder / _HEAD, TreeHead.from_json)
    return head, verify_head(head, read_file(folder / _LOG_KEY, ecc.Key.from_pem))


def _verify(arguments: argparse.Namespace) -> None:
    head, signed = _head(arguments.folder)
    keys = read_file(arguments.folder / _KEYS, SigningKeys.from_pem)
    with open(arguments.folder / _ENTRIES, "rb") as log:
        result = audit(log, keys, lambda index, reason: print(f"entry {index}: {reason}"), arguments.batch)
    matches = (head.size, head.root) == (result.entries, result.root)
    print(f"{result.entries} entries, {result.bad} bad")
    print(
        f"tree head: {'' if matches else 'not '}of these entries, signature {'' if signed else 'not '}valid"
    )
    if result.bad or not matches or not signed:
        sys.exit(1)


def _prove(arguments: argparse.Namespace) -> None:
    head, _ = _head(arguments.folder)
    proved = b""

    def leaves(log: BinaryIO) -> Iterator[bytes]:
        nonlocal proved
        for index, entry in enumerate(read_entries(log)):
            if index == arguments.index:
                proved = entry.encoded
            yield leaf_hash(entry.encoded)

    with open(arguments.folder / _ENTRIES, "rb") as log:
        path = inclusion_path(leaves(log), arguments.index, head.size)
    fields = {"index": arguments.index, "entry": proved.hex(), "path": [node.hex() for node in path]}
    print(json.dumps(fields, indent=1))


def _check(arguments: argparse.Namespace) -> None:
    head, signed = _head(arguments.folder)

    def read(fields: Any) -> tuple[int, bytes, list[bytes]]:
        path = [bytes.fromhex(node) for node in fields["path"]]
        return int(fields["index"]), bytes.fromhex(fields["entry"]), path

    proof = arguments.proof
    index, entry, path = read_fields(proof.read_bytes(), f"a proof: {proof}", read)
    included = verify_inclusion(leaf_hash(entry), index, head.size, path, head.root)
    print(
        f"entry {index}: {'' if included else 'not '}in the tree, signature {'' if signed else 'not '}valid"
    )
    if not included or not signed:
        sys.exit(1)


def _bench(arguments: argparse.Namespace) -> None:
    from log_audit.bench import bench  # noqa: PLC0415 - what it needs is needed nowhere else

    bench(arguments.entries, arguments.output)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="log_audit", description=__doc__)
    commands = parser.add_subparsers(required=True)
    for name, run, does in (
        ("generate", _generate, "make a log"),
        ("verify", _verify, "verify every signature, the tree and its head; list bad entries"),
        ("prove", _prove, "print a proof that an entry is in the tree"),
        ("check", _check, "check such a proof with the log's key and head alone"),
    ):
        command = commands.add_parser(name, help=does)
        command.add_argument("folder", type=Path)
        command.set_defaults(run=run)
        if run is _generate:
            command.add_argument("--entries", type=int, default=1_000_000)
            command.add_argument("--keys", type=int, default=8, help="half RSA-2048, half P-256")
            command.add_argument(
                "--damaged", type=int, default=0, help="entries whose signature is not valid"
            )
        elif run is _verify:
            command.add_argument("--batch", type=int, default=8192, help="entries verified together at most")
        elif run is _prove:
            command.add_argument("index", type=int)
        else:
            command.add_argument("proof", type=Path)
    bench = add_bench(commands, _bench, "measure beside OpenSSL, on one CPU")
    bench.add_argument("--entries", type=positive_count, default=16384)
    return parser


def main(argv: list[str] | None = None) -> None:
    """Run one command: of `argv`, or of the process."""
    run_command(_parser(), argv, (OSError, ValueError))


if __name__ == "__main__":
    main()
