# SPDX-License-Identifier: Apache-2.0
"""Elliptic curves: parameters, point formulas, scalar multiplication, schemes."""
