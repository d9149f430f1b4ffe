# SPDX-License-Identifier: Apache-2.0
"""`manymod` and `python -m manymod`."""

from __future__ import annotations

import sys

from manymod._extras import extra_of, missing_extra
from manymod._starting import EXIT_INTERRUPTED, EndsAtOnce

__all__ = ["main"]


def main() -> None:
    """Run the command, or name the extra that it needs."""
    try:
        with EndsAtOnce():
            from manymod.cli.main import main as command  # noqa: PLC0415 - it may not be installed

        command(prog_name="manymod")
    except ImportError as error:
        extra = extra_of(error)
        if extra is None:
            raise
        feature = "the manymod command" if extra in {"arrow", "cli"} else "this command"
        sys.exit(f"manymod: {missing_extra(feature, 'cli' if extra == 'arrow' else extra)}")
    except KeyboardInterrupt:
        print("manymod: interrupted", file=sys.stderr)
        sys.exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    main()
