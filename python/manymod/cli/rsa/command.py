# SPDX-License-Identifier: Apache-2.0
"""`manymod rsa`: sign, verify, encrypt and decrypt the rows of a table."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any

import click

from manymod import _core
from manymod.cli.options import Option
from manymod.cli.table.run import FILE_FORMATS, FILES, STATUS_COLUMN, run_job, run_options, table_files
from manymod.errors import InvalidKeyError, ManymodError
from manymod.rsa import KeyRing, Padding, Prehashed, PrivateKey, PublicKey
from manymod.rsa.padding import HASHES
from manymod.tables.operands import OutputNames
from manymod.tables.rsa_job import OPERANDS, RsaJob

__all__ = ["rsa"]

BATCH_ROWS = 1024
SUMMARIES = {
    "sign": "Sign the message of every row.",
    "verify": "Check the signature of every row.",
    "encrypt": "Encrypt the message of every row.",
    "decrypt": "Decrypt the ciphertext of every row.",
}
HELP = """{summary}

Reads TABLE (Parquet, CSV, JSON Lines, Arrow IPC) in batches and writes its columns, a result column and a
status column to OUT. Columns hold bytes, or text: a message is the text itself in UTF-8 (or, on request,
hexadecimal), a signature or ciphertext is hexadecimal, with or without 0x.

The status is "ok" or the name of what is wrong with the row. Exit codes: 0 all rows are ok, 3 some are not, 1
failure, 2 usage, 130 interrupted. An interrupted run leaves OUT.parts; the same command with --resume
continues from there.
"""

_EXPONENT_BITS = _core.MM_RSA_EXPONENT_BITS
_IN_PATH = click.Path(exists=True, dir_okay=False, path_type=Path)
_HASH = click.Choice(list(HASHES))


def _salt_length(_context: click.Context, _parameter: click.Parameter, value: str) -> int | str:
    if value in {"digest", "max", "auto"}:
        return value
    if not (value.isascii() and value.isdigit() and len(value) <= 4):
        raise click.BadParameter(f"{value!r} is none of digest, max, auto, a number of bytes")
    return int(value)


def _padding_options(operation: str) -> list[Option]:
    signature = operation in {"sign", "verify"}
    schemes = ["pss", "pkcs1v15"] if signature else ["oaep", "pkcs1v15"]
    options = [
        click.option(
            "--padding", type=click.Choice(schemes), default=schemes[0], show_default=True, help="Padding."
        ),
        click.option(
            "--hash",
            "algorithm",
            type=_HASH,
            default="sha256",
            show_default=True,
            help="Hash of the messages." if signature else "Hash of OAEP.",
        ),
        click.option("--mgf-hash", type=_HASH, help="Hash of MGF1 in PSS and OAEP, else that of --hash."),
    ]
    if signature:
        salt_length = click.option(
            "--salt-length",
            default="digest",
            show_default=True,
            callback=_salt_length,
            metavar="BYTES",
            help="Of PSS: bytes, digest, max, or, to verify, auto.",
        )
        prehashed = click.option("--prehashed", is_flag=True, help="Messages are digests by --hash.")
        return [*options, salt_length, prehashed]
    return [*options, click.option("--label", default="", help="Label of OAEP, as text.")]


def _options(operation: str) -> list[Option]:
    operands = [
        click.option(f"--{label}", label, required=True, metavar="COLUMN", help=f"Column of the {label}s.")
        for label in OPERANDS[operation]
    ]
    options = [
        *FILES,
        click.option(
            "--key",
            "keys",
            type=_IN_PATH,
            multiple=True,
            required=True,
            metavar="FILE",
            help="Key in PEM or DER; several for --key-column.",
        ),
        click.option(
            "--key-column", metavar="COLUMN", help="Column of each row's key: 0 is the first --key."
        ),
        click.option(
            "--password-file", type=_IN_PATH, metavar="FILE", help="File of the password of encrypted keys."
        ),
        click.option(
            "--max-exponent-bits",
            type=click.IntRange(2),
            default=_EXPONENT_BITS,
            show_default=True,
            metavar="BITS",
            help="Longest public exponent to accept of a key.",
        ),
        *operands,
        *_padding_options(operation),
        click.option(
            "--result",
            default="valid" if operation == "verify" else "result",
            show_default=True,
            help="Name of the result column.",
        ),
        STATUS_COLUMN,
    ]
    if "message" in OPERANDS[operation]:
        options.append(click.option("--hex-messages", is_flag=True, help="Text messages are hexadecimal."))
    if operation != "verify":
        choices = ["bytes", "hex", "text"] if operation == "decrypt" else ["bytes", "hex"]
        options.append(
            click.option(
                "--result-format",
                type=click.Choice(choices),
                default="bytes",
                show_default=True,
                help="Write results as this.",
            )
        )
    return [*options, *FILE_FORMATS, *run_options(BATCH_ROWS)]


def _read_key(
    path: Path, password: bytes | None, exponent_bits: int, private: bool
) -> PrivateKey | PublicKey:
    """The key in a file; for public operations that of a private key will do."""
    data = path.read_bytes()
    pem = b"-----BEGIN" in data
    if not private:
        read_public = PublicKey.from_pem if pem else PublicKey.from_der
        with contextlib.suppress(InvalidKeyError):
            return read_public(data, max_exponent_bits=exponent_bits)
    read_private = PrivateKey.from_pem if pem else PrivateKey.from_der
    try:
        key = read_private(data, password, max_exponent_bits=exponent_bits)
    except InvalidKeyError as error:
        raise InvalidKeyError(f"{path}: {error}") from error
    return key if private else key.public_key()


def _ring(operation: str, options: dict[str, Any]) -> KeyRing:
    if len(options["keys"]) > 1 and options["key_column"] is None:
        raise click.UsageError("several --key need a --key-column with each row's key")
    password = None
    if options["password_file"] is not None:
        password = options["password_file"].read_bytes().rstrip(b"\r\n")
    private = operation in {"sign", "decrypt"}
    exponent_bits = options["max_exponent_bits"]
    keys = [_read_key(path, password, exponent_bits, private) for path in options["keys"]]
    return KeyRing(keys, device=options["device"], variant=options["variant"], threads=options["threads"])


def _padding(operation: str, options: dict[str, Any]) -> tuple[Padding, Any]:
    """Padding, and the hash of the messages if it is one of signatures."""
    scheme, algorithm, mgf = options["padding"], options["algorithm"], options["mgf_hash"]
    if operation in {"encrypt", "decrypt"}:
        return Padding(scheme, algorithm=algorithm, mgf=mgf, label=options["label"].encode()), None
    if operation == "sign" and options["salt_length"] == "auto":
        raise click.UsageError("--salt-length auto is for verification alone")
    try:
        padding = Padding(scheme, mgf=mgf, salt_length=options["salt_length"])
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    return padding, Prehashed(algorithm) if options["prehashed"] else algorithm


def _job(operation: str, options: dict[str, Any]) -> RsaJob:
    padding, algorithm = _padding(operation, options)
    return RsaJob(
        operation=operation,
        operands={label: options[label] for label in OPERANDS[operation]},
        ring=_ring(operation, options),
        key_column=options["key_column"],
        padding=padding,
        algorithm=algorithm,
        message_is_hex=options.get("hex_messages", False),
        names=OutputNames(options["result"], options["status_column"], options.get("result_format", "bytes")),
    )


def _command(operation: str) -> click.Command:
    def callback(**options: Any) -> None:
        files = table_files(options)
        try:
            job = _job(operation, options)
        except (ManymodError, OSError) as error:
            raise click.ClickException(str(error)) from error
        sys.exit(run_job(job, files))

    for option in reversed(_options(operation)):
        callback = option(callback)
    summary = SUMMARIES[operation]
    return click.command(operation, help=HELP.format(summary=summary), short_help=summary)(callback)


@click.group(short_help="RSA: sign, verify, encrypt and decrypt the rows of a table.")
def rsa() -> None:
    """Sign, verify, encrypt and decrypt the rows of a table with RSA keys."""


for _operation in OPERANDS:
    rsa.add_command(_command(_operation))
