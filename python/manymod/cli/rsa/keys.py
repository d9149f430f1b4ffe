# SPDX-License-Identifier: Apache-2.0
"""The keys of `manymod rsa`: files, or folders whose files are named in a column."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click

from manymod.errors import InvalidKeyError
from manymod.rsa import PrivateKey, PublicKey

__all__ = ["NamedKeys", "keys_of_files", "keys_of_folder"]

#: Extensions of the files of a folder that are keys; those of public keys are passed over where private keys
#: are needed.
_PRIVATE = frozenset({".pem", ".der", ".key"})
_PUBLIC = frozenset({".pub", ".crt", ".cer"})


@dataclass(frozen=True)
class NamedKeys:
    """Keys, and their indices by name: the name of their file, with or without its extension."""

    keys: Sequence[PrivateKey | PublicKey]
    names: dict[str, int] = field(default_factory=dict)


def keys_of_files(paths: Sequence[Path], password: bytes | None, *, private: bool) -> NamedKeys:
    """Return the keys in files.

    Raises:
        InvalidKeyError: if one holds no such key; it names the file.
    """
    return NamedKeys([_read_key(path, password, private) for path in paths], _names(paths))


def keys_of_folder(folder: Path, password: bytes | None, *, private: bool) -> NamedKeys:
    """Return the keys in the files of a folder that have the extension of a key.

    Raises:
        InvalidKeyError: if one holds no such key; it names the file.
        UsageError: if there is none.
    """
    known = _PRIVATE if private else _PRIVATE | _PUBLIC
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in known and path.is_file())
    if not paths:
        raise click.UsageError(f"--keys {folder}: no file in it ends in {', '.join(sorted(known))}")
    return keys_of_files(paths, password, private=private)


def _names(paths: Sequence[Path]) -> dict[str, int]:
    """Indices by the names of files; without its extension a name counts if no other file has it too."""
    full = {path.name: index for index, path in enumerate(paths)}
    stems = [path.stem for path in paths]
    return {stem: index for index, stem in enumerate(stems) if stems.count(stem) == 1} | full


def _read_key(path: Path, password: bytes | None, private: bool) -> PrivateKey | PublicKey:
    """The key in a file; for public operations that of a private key will do."""
    data = path.read_bytes()
    pem = b"-----BEGIN" in data
    if not private:
        with contextlib.suppress(InvalidKeyError):
            return (PublicKey.from_pem if pem else PublicKey.from_der)(data)
    try:
        key = (PrivateKey.from_pem if pem else PrivateKey.from_der)(data, password)
    except InvalidKeyError as error:
        raise InvalidKeyError(f"{path}: {error}") from error
    return key if private else key.public_key()
