# SPDX-License-Identifier: Apache-2.0
"""The `manymod` command: the group and its commands."""

from __future__ import annotations

import codecs
import importlib
import io
import sys
from typing import Any

import click

import manymod
from manymod._starting import EndsAtOnce
from manymod.cli.ecc.command import ecc
from manymod.cli.failures import report_failures
from manymod.cli.info import info
from manymod.cli.rsa.command import rsa
from manymod.cli.selftest import selftest
from manymod.cli.signd.command import signd
from manymod.cli.table.command import table_command
from manymod.tables.columns import MAX_DECIMAL_DIGITS
from manymod.tables.operations import OPERATIONS

__all__ = ["main"]

#: Commands whose modules are imported only when they run: module, name there, short help.
LAZY = {
    "bench": ("manymod.cli.bench.command", "Throughput of this machine beside gmpy2, GMP and Python."),
    "lab": ("manymod.cli.lab.command", "The papers' tables and figures on this machine."),
    "provider": ("manymod.cli.provider", "Files for the OpenSSL provider."),
    "tune": ("manymod.cli.tune.command", "Measure which variant is fastest where on this machine."),
}


def _writable(error: UnicodeError) -> tuple[str | bytes, int]:
    """Return what is written for a character that the encoding of standard output lacks.

    That is a byte where the character stands for one that is no text, as names of files may have (PEP 383);
    for any other character it is a question mark.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    code = ord(error.object[error.start])
    return bytes([code - 0xDC00]) if 0xDC80 <= code <= 0xDCFF else "?", error.start + 1


codecs.register_error("manymod.writable", _writable)


class _Commands(click.Group):
    """A group some of whose commands are imported on first use, and none of which ends with a traceback."""

    def make_context(self, *arguments: Any, **keywords: Any) -> click.Context:
        """Read the options before the command; `--help` writes its text here."""
        with report_failures():
            return super().make_context(*arguments, **keywords)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        with report_failures():
            return super().invoke(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a name."""
        if cmd_name in LAZY and cmd_name not in self.commands:
            with EndsAtOnce():
                module = importlib.import_module(LAZY[cmd_name][0])
            self.add_command(getattr(module, cmd_name))
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all names."""
        return sorted({*super().list_commands(ctx), *LAZY})

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands, without importing those that are not."""
        rows = []
        for name in self.list_commands(ctx):
            loaded = self.commands.get(name)
            rows.append((name, LAZY[name][1] if loaded is None else loaded.get_short_help_str(80)))
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(manymod.__version__, prog_name="manymod")
def main(**_: Any) -> None:
    """Modular arithmetic on many independent big integers at once."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="manymod.writable")
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(MAX_DECIMAL_DIGITS)


for operation in OPERATIONS.values():
    main.add_command(table_command(operation))
for command in (info, selftest, rsa, ecc, signd):
    main.add_command(command)
