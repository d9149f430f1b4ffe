# SPDX-License-Identifier: Apache-2.0
"""Exit codes of commands that fail. `manymod.__main__` needs them before it imports any command."""

from __future__ import annotations

import os

__all__ = ["EXIT_BROKEN_PIPE", "EXIT_FAILURE", "EXIT_INTERNAL", "EXIT_INTERRUPTED"]

EXIT_FAILURE = 1
EXIT_INTERNAL = os.EX_SOFTWARE
EXIT_INTERRUPTED = 130
#: That of a program that SIGPIPE ends, as a shell sees it.
EXIT_BROKEN_PIPE = 141
