# SPDX-License-Identifier: Apache-2.0
"""The commands that run an operation over a table."""
