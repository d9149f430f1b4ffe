# SPDX-License-Identifier: Apache-2.0
"""The `manymod` command, for the extra `cli`: see `manymod.cli.main`."""
