# SPDX-License-Identifier: Apache-2.0
"""Point formulas with their operation counts and sources, for any :class:`reference.ecc.numbers.Number`."""
