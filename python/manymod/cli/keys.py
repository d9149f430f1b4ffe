# SPDX-License-Identifier: Apache-2.0
"""The keys of `manymod rsa` and `manymod ecc`: files, or folders whose files are named in a column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from manymod.cli.options import Option
from manymod.cli.outputs import refuse_inputs
from manymod.tables.integers import read_cells

__all__ = ["IN_PATH", "KEY_OPTIONS", "KeyFiles", "chosen_keys", "files_of_folder"]

Key = TypeVar("Key")

IN_PATH = click.Path(exists=True, dir_okay=False, path_type=Path)
KEY_OPTIONS: list[Option] = [
    click.option(
        "--key",
        "keys",
        type=IN_PATH,
        multiple=True,
        metavar="FILE",
        help="Key in PEM or DER; several for --key-column.",
    ),
    click.option(
        "--keys",
        "key_folder",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="DIR",
        help="Folder of keys for --key-column, instead of --key.",
    ),
    click.option(
        "--key-column",
        metavar="COLUMN",
        help="Column of each row's key: the name of its file, with or without extension, or of --key the "
        "number, from 0.",
    ),
    click.option(
        "--password-file", type=IN_PATH, metavar="FILE", help="File of the password of encrypted keys."
    ),
]

#: Extensions of the files of a folder that are keys; those of public keys are passed over where private keys
#: are needed.
_PRIVATE = frozenset({".pem", ".der", ".key"})
_PUBLIC = frozenset({".pub", ".crt", ".cer"})


@dataclass(frozen=True)
class KeyFiles:
    """Where keys are: a value that may be sent to other processes, as it has no key in it.

    Attributes:
        paths: a file for each key.
        password_file: of encrypted keys, or None.
    """

    paths: Sequence[Path]
    password_file: Path | None = None

    @property
    def names(self) -> dict[str, int]:
        """Indices of keys by name: the name of their file, with or without its extension."""
        return _names(self.paths)

    def read(self, read_key: Callable[[Path, bytes | None], Key]) -> list[Key]:
        """Return the keys, each of which a function reads from a file with a password."""
        password = None if self.password_file is None else self.password_file.read_bytes().rstrip(b"\r\n")
        return [read_key(path, password) for path in self.paths]


def chosen_keys(options: dict[str, Any], private: bool) -> KeyFiles:
    """Return the files of keys that options say.

    Args:
        options: by the names of `KEY_OPTIONS`, and the output.
        private: whether private keys are needed.
    """
    files, folder = options["keys"], options["key_folder"]
    if bool(files) == bool(folder):
        raise click.UsageError("give --key, or --keys")
    if options["key_column"] is None and (folder or len(files) > 1):
        what = "--keys needs" if folder else "several --key need"
        raise click.UsageError(f"{what} a --key-column with each row's key")
    if folder:
        files, output = files_of_folder(folder, private=private), options["output"]
        if isinstance(output, Path):
            refuse_inputs(output, (("one of --keys", path) for path in files))
    elif options["key_column"] is not None:
        _check_names(files)
    password_file = options["password_file"]
    return KeyFiles(
        [path.absolute() for path in files], None if password_file is None else password_file.absolute()
    )


def _check_names(paths: Sequence[Path]) -> None:
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
