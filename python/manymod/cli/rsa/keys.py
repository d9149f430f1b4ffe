# SPDX-License-Identifier: Apache-2.0
"""The keys of `manymod rsa`: files, or folders whose files are named in a column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click

from manymod.rsa import PrivateKey, PublicKey
from manymod.tables.integers import read_cells

__all__ = ["NamedKeys", "check_names", "files_of_folder", "keys_of_files"]

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


def check_names(paths: Sequence[Path]) -> None:
    """Check that no row can name another key than is meant, where keys have both numbers and names.

    Raises:
        UsageError: if a name is the number of another key.
    """
    others = set(range(len(paths)))
    for index, path in enumerate(paths):
        for name in (path.name, path.stem):
            if (number := _number(name)) in others - {index}:
                raise click.UsageError(
                    f"--key {path}: {name} in --key-column is the number of {paths[number]}: use --keys DIR, "
                    "where keys have only names, or rename the file"
                )


def _number(name: str) -> int | None:
    """The integer as which a cell of the key column with this name is read, None if it is none."""
    found = read_cells([name])
    return found.rows(0, 1).to_ints()[0] if found.invalid is None else None


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
    """Indices by the names of files, with and without extension; of those that one file alone has."""
    full, stems = [path.name for path in paths], [path.stem for path in paths]
    return {
        name: index for names in (stems, full) for index, name in enumerate(names) if names.count(name) == 1
    }
