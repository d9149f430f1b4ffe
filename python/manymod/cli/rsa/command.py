# SPDX-License-Identifier: Apache-2.0
"""`manymod rsa`: sign, verify, encrypt and decrypt the rows of a table."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from manymod import _core
from manymod._hashes import EXTENDABLE, HASHES
from manymod.cli.keys import KEY_OPTIONS, KeyFiles, chosen_keys
from manymod.cli.options import Option
from manymod.cli.table.key_options import (
    STATUSES_HELP,
    result_column_option,
    result_format_option,
    text_format_option,
)
from manymod.cli.table.run import (
    FILE_FORMATS,
    FILES,
    STATUS_COLUMN,
    run_job,
    run_options,
    table_files,
    text_callback,
)
from manymod.errors import InvalidKeyError, ManymodError
from manymod.rsa import KeyRing, Padding, Prehashed, PrivateKey, PublicKey
from manymod.rsa.keys import read_key
from manymod.rsa.padding import native_padding
from manymod.tables import OutputNames, Tally
from manymod.tables.key_job import INVALID_SIGNATURE
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
status column to OUT. TABLE may be - for standard input, and compressed by gzip or Zstandard. Columns hold
bytes, or text: a message is the text itself in UTF-8, a signature or ciphertext is hexadecimal, with or
without 0x, unless an option such as --message-format says otherwise.

{statuses}"""

_EXPONENT_BITS = _core.MM_RSA_EXPONENT_BITS
_HASH = click.Choice(list(HASHES))
_ENCRYPTION_HASH = click.Choice([name for name in HASHES if name not in EXTENDABLE])


def _salt_length(_context: click.Context, _parameter: click.Parameter, value: str) -> int | str:
    if value in {"digest", "max", "auto"}:
        return value
    if not (value.isascii() and value.isdigit() and len(value) <= 4):
        raise click.BadParameter(f"{value!r} is none of digest, max, auto, a number of bytes")
    return int(value)


def _padding_options(operation: str) -> list[Option]:
    signature = operation in {"sign", "verify"}
    schemes = ["pss", "pkcs1v15"] if signature else ["oaep", "pkcs1v15"]
    hashes = _HASH if signature else _ENCRYPTION_HASH
    options = [
        click.option(
            "--padding", type=click.Choice(schemes), default=schemes[0], show_default=True, help="Padding."
        ),
        click.option(
            "--hash",
            "algorithm",
            type=hashes,
            default="sha256",
            show_default=True,
            help="Hash of the messages." if signature else "Hash of OAEP.",
        ),
        click.option("--mgf-hash", type=hashes, help="Hash of MGF1 in PSS and OAEP, else that of --hash."),
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
    return [
        *options,
        click.option("--label", default="", callback=text_callback, help="Label of OAEP, as text."),
    ]


def _options(operation: str) -> list[Option]:
    operands = [
        click.option(f"--{label}", label, required=True, metavar="COLUMN", help=f"Column of the {label}s.")
        for label in OPERANDS[operation]
    ]
    options = [
        *FILES,
        *KEY_OPTIONS,
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
        result_column_option(operation),
        STATUS_COLUMN,
    ]
    options += [text_format_option(label, f"{label}s") for label in OPERANDS[operation]]
    if "message" in OPERANDS[operation]:
        options.append(click.option("--hex-messages", is_flag=True, help="The same as --message-format hex."))
    if operation == "verify":
        options.append(
            click.option(
                "--left-pad",
                is_flag=True,
                help="Short signatures lack leading zero bytes (else rsa_signature_length).",
            )
        )
    else:
        texts = ["text"] if operation == "decrypt" else []
        options.append(result_format_option(["bytes", "hex", "base64", *texts]))
    return [*options, *FILE_FORMATS, *run_options(BATCH_ROWS)]


def _read_key(
    path: Path, password: bytes | None, exponent_bits: int, private: bool
) -> PrivateKey | PublicKey:
    """The key in a file; for public operations that of a private key will do."""
    data = path.read_bytes()
    try:
        if private:
            return read_key(data, password, exponent_bits, private=True)
        # The certificate beside an encrypted key will do.
        with contextlib.suppress(InvalidKeyError):
            return read_key(data, password, exponent_bits, private=False)
        key = read_key(data, password, exponent_bits)
    except InvalidKeyError as error:
        raise InvalidKeyError(f"{path}: {error}") from error
    return key.public_key() if isinstance(key, PrivateKey) else key


@dataclass(frozen=True)
class _KeyLoader:
    """Makes a ring of the keys in files, where it is called."""

    files: KeyFiles
    exponent_bits: int
    private: bool
    settings: dict[str, Any]

    def __call__(self) -> KeyRing:
        keys = self.files.read(
            lambda path, password: _read_key(path, password, self.exponent_bits, self.private)
        )
        return KeyRing(keys, **self.settings)


def _refuse_unused(scheme: str) -> None:
    """Refuse options that the padding has no use for: who gives them expects another padding."""
    source = click.get_current_context().get_parameter_source
    for name in ("mgf_hash", "salt_length", "label") if scheme == "pkcs1v15" else ():
        if source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name.replace('_', '-')} is not for --padding {scheme}")


def _padding(operation: str, options: dict[str, Any]) -> tuple[Padding, Any]:
    """Padding, and the hash of the messages if it is one of signatures."""
    scheme, algorithm, mgf = options["padding"], options["algorithm"], options["mgf_hash"]
    _refuse_unused(scheme)
    if operation in {"encrypt", "decrypt"}:
        return Padding(scheme, algorithm=algorithm, mgf=mgf, label=options["label"].encode()), None
    if operation == "sign" and options["salt_length"] == "auto":
        raise click.UsageError("--salt-length auto is for verification alone")
    try:
        padding = Padding(scheme, mgf=mgf, salt_length=options["salt_length"])
        native_padding(padding, algorithm, "sign" if operation == "sign" else "verify")
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    return padding, Prehashed(algorithm) if options["prehashed"] else algorithm


def _job(operation: str, options: dict[str, Any]) -> RsaJob:
    padding, algorithm = _padding(operation, options)
    labels = OPERANDS[operation]
    encodings = {label: options[f"{label}_format"] for label in labels}
    if options.get("hex_messages"):
        encodings["message"] = "hex"
    private = operation in {"sign", "decrypt"}
    keys = chosen_keys(options, private)
    settings = {name: options[name] for name in ("device", "variant", "threads")}
    return RsaJob(
        operation=operation,
        operands={label: options[label] for label in labels},
        ring=_KeyLoader(keys, options["max_exponent_bits"], private, settings),
        key_column=options["key_column"],
        key_names=keys.names,
        keys_by_index=not options["key_folder"],
        padding=padding,
        algorithm=algorithm,
        encodings=encodings,
        left_pad=options.get("left_pad", False),
        names=OutputNames(options["result"], options["status_column"], options.get("result_format", "bytes")),
    )


def _hint(operation: str, options: dict[str, Any]) -> Callable[[Tally], str | None]:
    """What is said where every row fails in the way that wrong options make it."""

    def hint(tally: Tally) -> str | None:
        if tally.rows and tally.bad_counts.get("rsa_length") == tally.rows:
            return (
                "every row is rsa_length: the keys are too short for the messages, --hash and --salt-length, "
                "or with --prehashed the messages are no digests by --hash"
            )
        status = {"verify": INVALID_SIGNATURE, "decrypt": "rsa_decryption"}.get(operation)
        if not tally.rows or tally.bad_counts.get(str(status)) != tally.rows:
            return None
        names = ["padding", "hash", "mgf_hash", *(["salt_length"] if operation == "verify" else ["label"])]
        given = {"hash": options["algorithm"], **options}
        said = ", ".join(f"--{name.replace('_', '-')} {given[name] or '(none)'}" for name in names)
        made = "the signatures were made" if operation == "verify" else "the ciphertexts were made"
        return f"every row is {status}: is this how {made}, and is it the right key? {said}"

    return hint


def _command(operation: str) -> click.Command:
    def callback(**options: Any) -> None:
        files = table_files(options)
        try:
            job = _job(operation, options)
            loaded = job.loaded()
        except (ManymodError, OSError) as error:
            raise click.ClickException(str(error)) from error
        sys.exit(run_job(loaded if files.cluster is None else job, files, _hint(operation, options)))

    for option in reversed(_options(operation)):
        callback = option(callback)
    summary = SUMMARIES[operation]
    text = HELP.format(summary=summary, statuses=STATUSES_HELP)
    return click.command(operation, help=text, short_help=summary)(callback)


@click.group(short_help="RSA: sign, verify, encrypt and decrypt the rows of a table.")
def rsa() -> None:
    """Sign, verify, encrypt and decrypt the rows of a table with RSA keys."""


for _operation in OPERANDS:
    rsa.add_command(_command(_operation))
