# SPDX-License-Identifier: Apache-2.0
"""Modular exponentiation, generic over the multiplication."""
