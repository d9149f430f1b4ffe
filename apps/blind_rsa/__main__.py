# SPDX-License-Identifier: Apache-2.0
"""The command line: keys in PEM; messages as text, all else in hexadecimal, one a line."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from numpy.typing import NDArray

from blind_rsa.encoding import VARIANTS
from blind_rsa.parties import Blinding, Client, SignatureError, Signer
from command_line import add_bench, positive_count, read_file, run_command, standard_input
from json_fields import read_fields
from manymod import IntArray, ItemValueError, rsa
from new_files import write_new_files


def _messages(lines: Iterable[str]) -> list[bytes]:
    """Lines without their ends."""
    messages = []
    for number, line in enumerate(lines, 1):
        try:
            messages.append(line.rstrip("\n").encode())
        except UnicodeEncodeError:
            raise SystemExit(f"line {number}: not UTF-8") from None
    return messages


def _lines(items: Iterable[int]) -> str:
    """The numbers of the first eight lines that these items are on."""
    return "lines " + ", ".join(str(item + 1) for item in islice(items, 8))


def _rows(lines: Iterable[str], size: int) -> NDArray[np.uint8]:
    """Lines of `size` bytes in hexadecimal."""
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            row = bytes.fromhex(line)
        except ValueError:
            raise SystemExit(f"line {number}: not hexadecimal") from None
        if len(row) != size:
            raise SystemExit(f"line {number}: {len(row)} bytes, not {size}")
        rows.append(row)
    return np.frombuffer(b"".join(rows), np.uint8).reshape(-1, size)


def _write(rows: NDArray[np.uint8]) -> None:
    sys.stdout.writelines(row.tobytes().hex() + "\n" for row in rows)


def _keygen(arguments: argparse.Namespace) -> None:
    key = generate_private_key(65537, arguments.bits)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    write_new_files((arguments.private, private, 0o600), (arguments.public, public, 0o644))


def _client(arguments: argparse.Namespace) -> Client:
    return Client(read_file(arguments.public, rsa.PublicKey.from_pem), VARIANTS[arguments.variant])


def _blind(arguments: argparse.Namespace) -> None:
    client = _client(arguments)
    blinded, blinding = client.blind(client.prepare(_messages(standard_input())))
    kept = {
        "prepared": [message.hex() for message in blinding.prepared],
        "inverses": [f"{inverse:x}" for inverse in blinding.inverses],
    }
    write_new_files((arguments.state, json.dumps(kept, indent=0).encode(), 0o600))
    _write(blinded)


def _sign(arguments: argparse.Namespace) -> None:
    key = read_file(arguments.private, rsa.PrivateKey.from_pem)
    try:
        _write(Signer(key).blind_sign(_rows(standard_input(), key.modulus_bytes)))
    except ItemValueError as error:
        raise SystemExit(f"not below the modulus: {_lines(error.indices)}") from None


def _finalize(arguments: argparse.Namespace) -> None:
    client = _client(arguments)

    def kept(fields: Any) -> Blinding:
        prepared = [bytes.fromhex(message) for message in fields["prepared"]]
        inverses = [int(inverse, 16) for inverse in fields["inverses"]]
        if len(prepared) != len(inverses):
            raise ValueError
        return Blinding(prepared, IntArray.from_ints(inverses, bits=client.key.key_size))

    what = f"what blind kept for this key: {arguments.state}"
    blinding = read_fields(arguments.state.read_bytes(), what, kept)
    bad: list[int] = []
    try:
        signatures = client.finalize(blinding, _rows(standard_input(), client.key.modulus_bytes))
    except SignatureError as error:
        bad, signatures = error.indices, error.signatures
    omitted = set(bad)
    for item, message in enumerate(blinding.prepared):
        if item not in omitted:
            print(message.hex(), signatures[item].tobytes().hex())
    if bad:
        raise SystemExit(f"wrong blind signatures: {_lines(bad)}")


def _verify(arguments: argparse.Namespace) -> None:
    client = _client(arguments)
    pairs = [line.split(" ") for line in standard_input()]
    if wrong := [number for number, pair in enumerate(pairs, 1) if len(pair) != 2]:
        raise SystemExit(f"line {wrong[0]}: not a message and a signature")
    signatures = _rows((pair[1] for pair in pairs), client.key.modulus_bytes)
    try:
        prepared = [bytes.fromhex(pair[0]) for pair in pairs]
    except ValueError:
        raise SystemExit("a message is not hexadecimal") from None
    bad = np.flatnonzero(~client.verify(signatures, prepared))
    print(f"{len(pairs) - len(bad)} valid, {len(bad)} invalid")
    if len(bad):
        raise SystemExit(f"not valid: {_lines(bad)}")


def _bench(arguments: argparse.Namespace) -> None:
    from blind_rsa.bench import bench  # noqa: PLC0415 - needs gmpy2, which nothing else here does

    bench(arguments.bits, arguments.items, arguments.output)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="blind_rsa", description=__doc__)
    commands = parser.add_subparsers(required=True)
    keygen = commands.add_parser("keygen", help="make a key for blind signatures alone")
    keygen.add_argument("private", type=Path)
    keygen.add_argument("public", type=Path)
    keygen.add_argument("--bits", type=int, default=2048)
    keygen.set_defaults(run=_keygen)
    for name, run, does in (
        ("blind", _blind, "messages into blinded messages"),
        ("finalize", _finalize, "blind signatures into pairs of a prepared message and its signature"),
        ("verify", _verify, "count the valid ones of such pairs"),
    ):
        command = commands.add_parser(name, help=does)
        command.add_argument("public", type=Path)
        if run is not _verify:
            command.add_argument("state", type=Path, help="secret file of the client")
        command.add_argument("--variant", choices=list(VARIANTS), default=next(iter(VARIANTS)))
        command.set_defaults(run=run)
    sign = commands.add_parser("sign", help="blinded messages into blind signatures")
    sign.add_argument("private", type=Path)
    sign.set_defaults(run=_sign)
    bench = add_bench(commands, _bench, "measure beside GMP and OpenSSL, on one CPU")
    bench.add_argument("--bits", type=int, default=2048)
    bench.add_argument("--items", type=positive_count, default=1024)
    return parser


def main(argv: list[str] | None = None) -> None:
    """Run one command: of `argv`, or of the process."""
    run_command(_parser(), argv, (OSError, ValueError))


if __name__ == "__main__":
    main()
