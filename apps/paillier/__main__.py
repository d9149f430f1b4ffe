# SPDX-License-Identifier: Apache-2.0
"""The command line: keys in JSON, numbers and ciphertexts one a line, ciphertexts in hexadecimal."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from command_line import add_bench, positive_count, run_command, standard_input
from json_fields import read_fields
from new_files import write_new_files
from paillier.keys import PrivateKey
from paillier.public import CiphertextError, PublicKey

_BATCH = 4096  # lines that are in memory at a time


def _read_public(path: Path) -> PublicKey:
    def numbers(fields: Any) -> tuple[int, int | None]:
        randomiser = fields.get("randomiser")
        return int(fields["n"], 16), None if randomiser is None else int(randomiser, 16)

    return PublicKey(*read_fields(path.read_bytes(), f"a public key: {path}", numbers))


def _read_private(path: Path) -> PrivateKey:
    def numbers(fields: Any) -> tuple[int, int]:
        return int(fields["p"], 16), int(fields["q"], 16)

    return PrivateKey(*read_fields(path.read_bytes(), f"a private key: {path}", numbers))


def _json(**numbers: int) -> bytes:
    """A file of numbers in hexadecimal."""
    return json.dumps({name: f"{number:x}" for name, number in numbers.items()}, indent=1).encode() + b"\n"


def _batches(lines: Iterable[str], base: int, name: str = "") -> Iterable[tuple[int, list[int]]]:
    """Integers of the lines of the file `name` in batches, each with the number of its first line, from 0."""
    first, batch = 0, []
    for number, line in enumerate(lines):
        try:
            batch.append(int(line, base))
        except ValueError:
            raise SystemExit(f"{name}line {number + 1}: not a number") from None
        if len(batch) == _BATCH:
            yield first, batch
            first, batch = number + 1, []
    if batch:
        yield first, batch


def _each_batch(base: int, compute: Callable[[list[int]], Iterable[int]], shown: str) -> None:
    """Read integers from standard input, compute batches of them, write the results."""
    for first, batch in _batches(standard_input(), base):
        try:
            results = compute(batch)
        except CiphertextError as error:
            lines = ", ".join(str(first + item + 1) for item in error.indices[:8])
            raise SystemExit(f"not ciphertexts of this key: lines {lines}") from None
        except OverflowError as error:
            raise SystemExit(f"lines from {first + 1}: {error}") from None
        sys.stdout.writelines(format(result, shown) + "\n" for result in results)


def _keygen(arguments: argparse.Namespace) -> None:
    key = PrivateKey.generate(arguments.bits)
    public = key.public_key
    assert public.randomiser is not None  # noqa: S101 - generated keys have one
    write_new_files(
        (arguments.private, _json(p=key.p, q=key.q), 0o600),
        (arguments.public, _json(n=public.n, randomiser=public.randomiser), 0o644),
    )


def _encrypt(arguments: argparse.Namespace) -> None:
    key = _read_public(arguments.public)
    _each_batch(10, lambda values: key.encrypt(key.messages(values)), "x")


def _decrypt(arguments: argparse.Namespace) -> None:
    key = _read_private(arguments.private)
    public = key.public_key
    _each_batch(16, lambda values: public.numbers(key.decrypt(public.ciphertexts(values))), "d")


def _total(arguments: argparse.Namespace) -> None:
    key = _read_public(arguments.public)
    weights = None
    if arguments.weights is not None:
        with open(arguments.weights, encoding="utf-8", errors="surrogateescape") as lines:
            batches = _batches(lines, 10, f"{arguments.weights}: ")
            weights = [value for _, batch in batches for value in batch]
    total, count = 1, 0

    def accumulate(values: list[int]) -> Iterable[int]:
        nonlocal total, count
        ciphertexts = key.ciphertexts(values)
        if weights is None:
            product = key.sum(ciphertexts)
        else:
            chosen = weights[count : count + len(values)]
            if len(chosen) < len(values):
                raise SystemExit(f"{len(weights)} weights, and more ciphertexts")
            product = key.dot(ciphertexts, chosen)
        count += len(values)
        total = total * product[0] % key.square
        return ()

    _each_batch(16, accumulate, "x")
    if weights is not None and count < len(weights):
        raise SystemExit(f"{len(weights)} weights for {count} ciphertexts")
    print(f"{total:x}")


def _bench(arguments: argparse.Namespace) -> None:
    from paillier.bench import bench  # noqa: PLC0415 - needs phe, which nothing else here does

    bench(arguments.bits, arguments.items, arguments.output)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="paillier", description=__doc__)
    commands = parser.add_subparsers(required=True)
    keygen = commands.add_parser("keygen", help="make a key")
    keygen.add_argument("private", type=Path)
    keygen.add_argument("public", type=Path)
    keygen.add_argument("--bits", type=int, default=2048)
    keygen.set_defaults(run=_keygen)
    encrypt = commands.add_parser("encrypt", help="numbers, one a line, into ciphertexts")
    encrypt.add_argument("public", type=Path)
    encrypt.set_defaults(run=_encrypt)
    decrypt = commands.add_parser("decrypt", help="ciphertexts into numbers")
    decrypt.add_argument("private", type=Path)
    decrypt.set_defaults(run=_decrypt)
    total = commands.add_parser("sum", help="ciphertexts into one of their sum")
    total.add_argument("public", type=Path)
    total.add_argument("--weights", type=Path, help="file of as many public integers, one a line")
    total.set_defaults(run=_total)
    bench = add_bench(commands, _bench, "measure beside phe, one thread each")
    bench.add_argument("--bits", type=int, default=2048)
    bench.add_argument("--items", type=positive_count, default=512)
    return parser


def main(argv: list[str] | None = None) -> None:
    """Run one command: of `argv`, or of the process."""
    run_command(_parser(), argv, (OSError, ValueError))


if __name__ == "__main__":
    main()
