# SPDX-License-Identifier: Apache-2.0
"""Entry point of the `manymod` command: the group and its commands."""

from __future__ import annotations

import sys

import click

import manymod
from manymod.cli.bench import bench
from manymod.cli.bench_cpu import bench_cpu
from manymod.cli.bench_rsa import bench_rsa
from manymod.cli.columns import MAX_DECIMAL_DIGITS
from manymod.cli.info import info
from manymod.cli.operations import OPERATIONS
from manymod.cli.rsa_command import rsa
from manymod.cli.selftest import selftest
from manymod.cli.table_command import table_command
from manymod.cli.tune import tune

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(manymod.__version__, prog_name="manymod")
def main() -> None:
    """Modular arithmetic on many independent big integers at once."""
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(MAX_DECIMAL_DIGITS)


for operation in OPERATIONS.values():
    main.add_command(table_command(operation))
bench.add_command(bench_cpu)
bench.add_command(bench_rsa)
for command in (info, selftest, bench, tune, rsa):
    main.add_command(command)
