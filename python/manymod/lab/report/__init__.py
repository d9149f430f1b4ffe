# SPDX-License-Identifier: Apache-2.0
"""A run as a page, as Markdown, and two runs beside each other."""
