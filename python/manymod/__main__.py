# SPDX-License-Identifier: Apache-2.0
"""`python -m manymod`."""

from manymod.cli.main import main

if __name__ == "__main__":
    main(prog_name="manymod")
