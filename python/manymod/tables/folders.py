# SPDX-License-Identifier: Apache-2.0
"""Folders that are held open, private files in them, and the file that an output replaces."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path
from typing import IO

from manymod.tables.errors import TableError

__all__ = ["Folder", "OutputFile", "target_of"]

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PERMISSIONS = 0o777
_ACCESS_LIST = "system.posix_acl_access"


class Folder:
    """An open directory. Its names are looked up in it, wherever its path may lead meanwhile."""

    def __init__(self, path: Path, parent: Folder | None = None) -> None:
        """Open a directory by its path, or by its last name in an open `parent`, following no link there."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        self.path = path
        if parent is None:
            self._descriptor = os.open(path, flags)
        else:
            self._descriptor = os.open(path.name, flags | os.O_NOFOLLOW, dir_fd=parent.descriptor)

    @property
    def descriptor(self) -> int:
        """The directory's file descriptor."""
        return self._descriptor

    def status(self) -> os.stat_result:
        """Return the directory's own status."""
        return os.fstat(self._descriptor)

    def names(self) -> set[str]:
        """Return the names of its entries."""
        return set(os.listdir(self._descriptor))  # noqa: PTH208 - a path cannot say which directory is open

    def create(self, name: str) -> IO[bytes]:
        """Create a file that only its owner can read or write. Nothing of that name may be there."""
        return os.fdopen(os.open(name, _CREATE, 0o600, dir_fd=self._descriptor), "wb")

    def open(self, name: str, flags: int = os.O_RDONLY, mode: str = "rb") -> IO[bytes]:
        """Open a file, creating it for its owner alone if the flags say so; a link is an error."""
        flags |= os.O_NOFOLLOW | os.O_CLOEXEC
        return os.fdopen(os.open(name, flags, 0o600, dir_fd=self._descriptor), mode)

    def remove(self, name: str) -> None:
        """Remove a file, if there is one of that name."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self._descriptor)

    def move(self, name: str, folder: Folder, new_name: str) -> None:
        """Give a file a new name in a folder of the same file system, in place of what has that name."""
        os.replace(name, new_name, src_dir_fd=self._descriptor, dst_dir_fd=folder.descriptor)

    def sync(self) -> None:
        """Make its names durable."""
        os.fsync(self._descriptor)

    def close(self) -> None:
        """Close the directory."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1


class OutputFile:
    """The place of an output: where the path leads if it is a link, and the file there that is replaced.

    Args:
        path: what the user named; messages name it.

    Raises:
        TableError: if no file can be written there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.target = target_of(path)
        self._folder_path = self.target.parent
        try:
            self._check()
        except (OSError, ValueError) as error:
            raise TableError(f"{path}: {getattr(error, 'strerror', None) or error}") from error

    def _check(self) -> None:
        if self.path.is_symlink():
            _check_link(self.path)
        if self.target.name in {"", ".."} or self.target.is_dir():
            raise TableError(f"{self.path} is a directory")
        if self.path.exists() and not self.path.is_file():  # a link such as /dev/stdout may lead to a pipe
            raise TableError(f"{self.path} is not a regular file")
        if not self._folder_path.is_dir():
            raise TableError(f"{self._folder_path} is not a directory")
        if not os.access(self._folder_path, os.W_OK | os.X_OK):
            raise TableError(f"{self._folder_path} is a directory without permission to write there")
        if self.target.exists() and not _may_replace(self._folder_path, self.target):
            raise TableError(
                f"{self.path} belongs to another user, and its directory lets only them replace it"
            )

    def folder(self) -> Folder:
        """Open the directory that the file is in."""
        return Folder(self._folder_path)

    def temporary_name(self) -> str:
        """Return a name for a temporary file that nobody can know before."""
        return f".{self.target.name[:40]}.{secrets.token_hex(8)}.tmp"

    def write(self, content: bytes) -> None:
        """Write a small file as a whole.

        Raises:
            TableError: if it cannot be written; what was there before is still there.
        """
        try:
            with contextlib.closing(self.folder()) as folder:
                self._replace(folder, content)
        except OSError as error:
            raise TableError(f"{self.path}: {error.strerror or error}") from error

    def _replace(self, folder: Folder, content: bytes) -> None:
        name = self.temporary_name()
        try:
            with folder.create(name) as file:
                file.write(content)
            self.put(folder, name, folder)
        except BaseException:
            folder.remove(name)
            raise

    def put(self, folder: Folder, name: str, parent: Folder) -> None:
        """Move a finished file from `folder` to its place in the directory `parent`, durably.

        It gets the permissions of the file that it replaces, else those of any new file.
        """
        with folder.open(name, os.O_RDWR, "rb+") as file:
            self._set_permissions(file.fileno(), parent)
            os.fsync(file.fileno())
        folder.move(name, parent, self.target.name)
        parent.sync()

    def _set_permissions(self, descriptor: int, parent: Folder) -> None:
        try:
            old = os.stat(self.target.name, dir_fd=parent.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            _set_mode(descriptor, 0o666 & ~_umask())
            return
        mode = stat.S_IMODE(old.st_mode) & _PERMISSIONS
        if not _give(descriptor, old):
            mode &= ~0o070  # they are those of a group that the new file does not belong to
        _set_mode(descriptor, mode)
        with contextlib.suppress(OSError):  # no such list, or a file system without them
            entries = os.getxattr(self.target, _ACCESS_LIST, follow_symlinks=False)
            os.setxattr(descriptor, _ACCESS_LIST, entries)


def target_of(path: Path) -> Path:
    """Return where a path leads if it is a symbolic link, else the path."""
    try:
        return Path(os.path.realpath(path)) if path.is_symlink() else path
    except (OSError, ValueError) as error:
        raise TableError(f"{path}: {getattr(error, 'strerror', None) or error}") from error


def _check_link(path: Path) -> None:
    """Raise TableError for a symbolic link that must not be followed.

    In a directory that everybody can write to, such as /tmp, a link may have been planted: it has to belong
    to the user or to the directory's owner, as Linux itself can demand (protected_symlinks).
    """
    folder = path.parent.stat()
    shared = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
    if shared and path.lstat().st_uid not in {os.geteuid(), folder.st_uid}:
        raise TableError(
            f"{path} is a symbolic link of another user in a directory that everybody can write to"
        )
    with contextlib.suppress(FileNotFoundError):
        path.stat()  # an error if links lead in a circle


def _may_replace(folder: Path, target: Path) -> bool:
    """Whether the sticky bit of a directory lets this user replace a file in it."""
    status = folder.stat()
    owners = {status.st_uid, target.stat().st_uid}
    return not status.st_mode & stat.S_ISVTX or os.geteuid() == 0 or os.geteuid() in owners


def _give(descriptor: int, old: os.stat_result) -> bool:
    """Give a file to the owner and group of another as far as possible; whether the group is the same."""
    new = os.fstat(descriptor)
    for owner in (old.st_uid, -1):
        if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
            with contextlib.suppress(PermissionError):
                os.fchown(descriptor, owner, old.st_gid)
                break
    return os.fstat(descriptor).st_gid == old.st_gid


def _set_mode(descriptor: int, mode: int) -> None:
    with contextlib.suppress(PermissionError):  # a file system without permissions
        os.fchmod(descriptor, mode)


def _umask() -> int:
    """Return the mask of new files' permissions, which can be read by setting it only."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
