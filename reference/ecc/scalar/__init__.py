# SPDX-License-Identifier: Apache-2.0
"""Scalar multiplication over any :class:`reference.ecc.groups.Group`."""
