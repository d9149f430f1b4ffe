# SPDX-License-Identifier: Apache-2.0
"""The keys of `manymod rsa`: files, or folders whose files are named in a column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click

from manymod.rsa import PrivateKey, PublicKey

__all__ = ["NamedKeys", "files_of_folder", "keys_of_files"]

#: Extensions of the files of a folder that are keys; those of public keys are passed over where private keys
#: are needed.
_PRIVATE = frozenset({".pem", ".der", ".key"})
_PUBLIC = frozenset({".pub", ".crt", ".cer"})


@dataclass(frozen=True)
class NamedKeys:
    """Keys, and their indices by name: the name of their file, with or without its extension."""

    keys: Sequence[PrivateKey | PublicKey]
    names: dict[str, int] = field(default_factory=dict)


def keys_of_files(paths: Sequence[Path], read_key: Callable[[Path], PrivateKey | PublicKey]) -> NamedKeys:
    """Return the keys in files, which `read_key` reads."""
    return NamedKeys([read_key(path) for path in paths], _names(paths))


def files_of_folder(folder: Path, *, private: bool) -> list[Path]:
    """Return the files of a folder that have the extension of a key.

    Args:
        folder: its folders are passed over.
        private: files with the extension of public keys are passed over.

    Raises:
        UsageError: if there is none.
    """
    known = _PRIVATE if private else _PRIVATE | _PUBLIC
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in known and path.is_file())
    if not paths:
        raise click.UsageError(f"--keys {folder}: no file in it ends in {', '.join(sorted(known))}")
    return paths


def _names(paths: Sequence[Path]) -> dict[str, int]:
    """Indices by the names of files; without its extension a name counts if no other file has it too."""
    full = {path.name: index for index, path in enumerate(paths)}
    stems = [path.stem for path in paths]
    return {stem: index for index, stem in enumerate(stems) if stems.count(stem) == 1} | full
