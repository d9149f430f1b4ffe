# SPDX-License-Identifier: Apache-2.0
"""`manymod ecc`: sign, verify, exchange, recover, or make public keys of the rows of a table."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from manymod import ecc as curves
from manymod._hashes import CURVE_HASHES
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
from manymod.ecc.keys import read_key
from manymod.errors import InvalidKeyError, ManymodError
from manymod.tables import OutputNames, Tally
from manymod.tables.ecc_job import KEY_OPERANDS, OPERANDS, EccJob
from manymod.tables.key_job import INVALID_SIGNATURE

__all__ = ["ecc"]

BATCH_ROWS = 8192
SUMMARIES = {
    "sign": "Sign the message of every row.",
    "verify": "Check the signature of every row.",
    "exchange": "Compute the shared secret with the owner of every row's public key.",
    "public": "Compute the public key of every row's private key.",
    "recover": "Recover the public key of every row's signature.",
}
HELP = """{summary}

Reads TABLE (Parquet, CSV, JSON Lines, Arrow IPC) in batches and writes its columns, a result column and a
status column to OUT. TABLE may be - for standard input, and compressed by gzip or Zstandard. Columns hold
bytes, or text: a message is the text itself in UTF-8, everything else is hexadecimal, with or without 0x,
unless an option such as --message-format says otherwise. {keys}

{statuses}"""
_OF_FILES = "Keys are those of --key or --keys, or, with --curve, in a column of their own."
_OF_ROWS = "--curve says which curve the keys are on."

#: What the options of an operation's columns are for.
_COLUMNS = {
    "message": "messages",
    "signature": "signatures",
    "point": "other sides' public keys",
    "secret": "private keys",
    "public": "public keys",
}
_HASH = click.Choice(list(CURVE_HASHES))

#: Options of how to compute, by the names of the keywords of `Curve`.
_HASH_OF_MESSAGES = click.option(
    "--hash", "algorithm", type=_HASH, help="Hash of the messages, else the usual one of the curve."
)
_HASH_OF_SECRETS = click.option(
    "--hash", "algorithm", type=_HASH, help="Hash of the secrets, else they are bare."
)
_PREHASHED = click.option("--prehashed", is_flag=True, help="Messages are digests by --hash.")
_LOW_S = click.option(
    "--low-s/--any-s", default=None, help="Whether s is at most n / 2. [default: on secp256k1]"
)
_POINT_FORM = click.option(
    "--form",
    type=click.Choice(["uncompressed", "compressed", "x"]),
    default="uncompressed",
    show_default=True,
    help="Encoding of the public keys that are written.",
)
_SIGNATURE_FORM = click.option(
    "--form",
    type=click.Choice(["raw", "der", "recoverable"]),
    default="raw",
    show_default=True,
    help="Encoding of signatures: r || s, DER, or r || s || v.",
)
_SCHEME = click.option(
    "--scheme",
    type=click.Choice(["ecdsa", "eddsa", "bip340", "sm2"]),
    help="Signature scheme, else the usual one of the curve.",
)
_CONTEXT = click.option(
    "--context", callback=text_callback, help="Context of EdDSA, or signer's id of SM2, as text."
)
_NONCES = click.option(
    "--nonces",
    type=click.Choice(["deterministic", "hedged"]),
    default="deterministic",
    show_default=True,
    help="Of ECDSA.",
)
_POLICY = click.option(
    "--policy",
    type=click.Choice(["rfc8032", "strict", "zip215"]),
    default="rfc8032",
    show_default=True,
    help="Of EdDSA.",
)
_SIGNATURE_OPTIONS = [_SCHEME, _HASH_OF_MESSAGES, _PREHASHED, _CONTEXT, _SIGNATURE_FORM, _LOW_S]
_SCHEME_OPTIONS: dict[str, list[Option]] = {
    "sign": [*_SIGNATURE_OPTIONS, _NONCES],
    "verify": [*_SIGNATURE_OPTIONS, _POLICY],
    "exchange": [_HASH_OF_SECRETS],
    "public": [_POINT_FORM],
    "recover": [_HASH_OF_MESSAGES, _PREHASHED, _LOW_S, _POINT_FORM],
}


def _column_options(operation: str) -> list[Option]:
    own = KEY_OPERANDS.get(operation)
    required = own is not None and not _takes_files(operation)
    options = [
        click.option(
            f"--{label}", label, required=True, metavar="COLUMN", help=f"Column of the {_COLUMNS[label]}."
        )
        for label in OPERANDS[operation]
    ]
    if own is not None:
        what = f"Column of the rows' {_COLUMNS[own]}."
        options.append(click.option(f"--{own}", own, required=required, metavar="COLUMN", help=what))
    return [*options, *(text_format_option(label, _COLUMNS[label]) for label in _labels(operation))]


def _labels(operation: str) -> list[str]:
    own = KEY_OPERANDS.get(operation)
    return [*OPERANDS[operation], *([] if own is None else [own])]


def _takes_files(operation: str) -> bool:
    """Whether keys may be in files."""
    return operation in {"sign", "verify", "exchange"}


def _options(operation: str) -> list[Option]:
    options = [
        *FILES,
        *(KEY_OPTIONS if _takes_files(operation) else []),
        click.option(
            "--curve",
            required=not _takes_files(operation),
            metavar="NAME",
            help="Curve of the keys of rows, such as P-256, secp256k1, Ed25519.",
        ),
        *_column_options(operation),
        *_SCHEME_OPTIONS[operation],
        result_column_option(operation),
        STATUS_COLUMN,
    ]
    if operation != "verify":
        options.append(result_format_option(["bytes", "hex", "base64"]))
    return [*options, *FILE_FORMATS, *run_options(BATCH_ROWS)]


def _read_key(path: Path, password: bytes | None, private: bool) -> curves.Key:
    """The key in a file; for public operations that of a private key will do."""
    try:
        key = read_key(path.read_bytes(), password, public_only=not private)
        if private and not key.is_private:
            raise InvalidKeyError("a public key, where a private one is needed")
    except InvalidKeyError as error:
        raise InvalidKeyError(f"{path}: {error}") from error
    return key


@dataclass(frozen=True)
class _KeyLoader:
    """Makes a ring of the keys in files, where it is called."""

    files: KeyFiles
    private: bool
    settings: dict[str, Any]

    def __call__(self) -> curves.KeyRing:
        keys = self.files.read(lambda path, password: _read_key(path, password, self.private))
        return curves.KeyRing(keys, **self.settings)


def _how(operation: str, options: dict[str, Any]) -> dict[str, Any]:
    """Keywords of the method of `Curve` or `KeyRing`."""
    names = {
        "sign": ("scheme", "low_s", "nonces"),
        "verify": ("scheme", "low_s", "policy"),
        "recover": ("low_s",),
    }
    how = {name: options[name] for name in names.get(operation, ())}
    if "form" in options:
        how["encoding"] = options["form"]
    if "algorithm" in options:
        how["algorithm"] = options["algorithm"]
    if options.get("context") is not None:
        how["context"] = options["context"].encode()
    if options.get("prehashed"):
        if options["algorithm"] is None:
            raise click.UsageError("--prehashed needs --hash")
        how["algorithm"] = curves.Prehashed(options["algorithm"])
    return how


def _curve(name: str | None) -> curves.Curve:
    if name is None:
        raise click.UsageError("keys in a column need a --curve")
    try:
        return curves.Curve.named(name)
    except ValueError as error:
        raise click.UsageError(f"--curve: {error}") from error


def _job(operation: str, options: dict[str, Any]) -> EccJob:
    own = KEY_OPERANDS.get(operation)
    of_rows = not _takes_files(operation) or options[str(own)] is not None
    labels = [label for label in _labels(operation) if of_rows or label != own]
    settings = {name: options[name] for name in ("device", "variant", "threads")}
    named: dict[str, Any] = {"how": _how(operation, options)}
    if of_rows:
        if options.get("keys") or options.get("key_folder") or options.get("key_column"):
            raise click.UsageError(f"--{own}: rows have their keys: leave out --key, --keys, --key-column")
        named |= {"curve": _curve(options["curve"]), "where": settings}
    else:
        if options["curve"] is not None:
            raise click.UsageError(f"--curve is for keys in a column: give --{own}")
        private = operation != "verify"
        keys = chosen_keys(options, private)
        named |= {
            "ring": _KeyLoader(keys, private, settings),
            "key_column": options["key_column"],
            "key_names": keys.names,
            "keys_by_index": not options["key_folder"],
        }
    return EccJob(
        operation=operation,
        operands={label: options[label] for label in labels},
        encodings={label: options[f"{label}_format"] for label in labels},
        names=OutputNames(options["result"], options["status_column"], options.get("result_format", "bytes")),
        **named,
    )


def _hint(operation: str, options: dict[str, Any]) -> Callable[[Tally], str | None]:
    """What is said where every row fails in the way that wrong options make it."""

    def hint(tally: Tally) -> str | None:
        if tally.rows and tally.bad_counts.get("ecc_curve") == tally.rows:
            chosen = [name for name in ("scheme", "algorithm", "form", "context") if options.get(name)]
            said = ", ".join(
                f"--{'hash' if name == 'algorithm' else name} {options[name]}" for name in chosen
            )
            return (
                f"every row is ecc_curve: no key's curve has this operation{said and ' with ' + said}, or no "
                "key has the name in --key-column"
            )
        failed = tally.bad_counts.get(INVALID_SIGNATURE, 0) + tally.bad_counts.get("ecc_signature", 0)
        if operation != "verify" or not tally.rows or failed != tally.rows:
            return None
        given = {"form": options["form"], "hash": options["algorithm"], "scheme": options["scheme"]}
        said = ", ".join(f"--{name} {value or '(the usual)'}" for name, value in given.items())
        return f"no signature is valid: is this how they were made, and are these the right keys? {said}"

    return hint


def _command(operation: str) -> click.Command:
    def callback(**options: Any) -> None:
        files = table_files(options)
        try:
            job = _job(operation, options)
            loaded = job.loaded()
            loaded.check()
        except (ManymodError, OSError) as error:
            raise click.ClickException(str(error)) from error
        except ValueError as error:
            raise click.UsageError(f"the options do not fit each other or the keys: {error}") from error
        sys.exit(run_job(loaded if files.cluster is None else job, files, _hint(operation, options)))

    for option in reversed(_options(operation)):
        callback = option(callback)
    summary = SUMMARIES[operation]
    keys = _OF_FILES if _takes_files(operation) else _OF_ROWS
    text = HELP.format(summary=summary, keys=keys, statuses=STATUSES_HELP)
    return click.command(operation, help=text, short_help=summary)(callback)


@click.group(short_help="Elliptic curves: sign, verify, exchange, recover the rows of a table.")
def ecc() -> None:
    """Sign, verify, exchange, recover, or make public keys of the rows of a table."""


for _operation in OPERANDS:
    ecc.add_command(_command(_operation))
