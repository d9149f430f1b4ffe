# SPDX-License-Identifier: Apache-2.0
"""Exit codes of commands that fail."""

from __future__ import annotations

import os

from manymod._starting import EXIT_INTERRUPTED

__all__ = ["EXIT_BROKEN_PIPE", "EXIT_FAILURE", "EXIT_INTERNAL", "EXIT_INTERRUPTED"]

EXIT_FAILURE = 1
EXIT_INTERNAL = os.EX_SOFTWARE
#: That of a program that SIGPIPE ends, as a shell sees it.
EXIT_BROKEN_PIPE = 141
