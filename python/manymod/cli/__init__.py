# SPDX-License-Identifier: Apache-2.0
"""The `manymod` command."""

from manymod.cli.main import main

__all__ = ["main"]
