# SPDX-License-Identifier: Apache-2.0
"""u1 G + u2 Q for the verification of signatures: public scalars, variable time.

Sources: Straus 1964 (one table of all sums, "Shamir's trick"); Möller 2001 (interleaving).

The result and each partial sum can be infinity or equal what is added: a signer chooses Q = +-G or Q =
-(u1/u2) G to provoke it. So every addition here is the group's complete one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from reference.ecc.scalar.variable_base import odd_multiples, signed
from reference.modexp.windows import width_naf

if TYPE_CHECKING:
    from reference.ecc.groups import Group
    from reference.ecc.scalar.fixed_base import FixedBase

P = TypeVar("P")


def joint(group: Group[P], u1: int, g: P, u2: int, q: P) -> P:
    """One bit of both at a time, with the table 0, G, Q, G + Q: G + Q may be infinity or a doubling."""
    table = [group.one(), g, q, group.mul(g, q)]
    result = group.one()
    for i in range(max(u1.bit_length(), u2.bit_length()) - 1, -1, -1):
        result = group.sqr(result)
        index = (u1 >> i & 1) + 2 * (u2 >> i & 1)
        if index:
            result = group.mul(result, group.select(table, index))
    return result


def interleaved(group: Group[P], u1: int, g: P, u2: int, q: P, widths: tuple[int, int] = (7, 5)) -> P:
    """w-NAF of both over one chain of doublings: G has a wide table computed once, Q a narrow one."""
    terms = [
        (width_naf(u, width), odd_multiples(group, point, width))
        for u, point, width in ((u1, g, widths[0]), (u2, q, widths[1]))
    ]
    result = group.one()
    for i in range(max(len(digits) for digits, _ in terms) - 1, -1, -1):
        result = group.sqr(result)
        for digits, table in terms:
            if i < len(digits) and digits[i]:
                result = group.mul(result, signed(group, table, abs(digits[i]) >> 1, digits[i] < 0))
    return result


def with_comb(group: Group[P], comb: FixedBase[P], u1: int, u2: int, q: P, width: int = 5) -> P:
    """G by its own tables without doublings, Q by w-NAF, and one addition of both: what kernels do."""
    table = odd_multiples(group, q, width)
    result = group.one()
    for digit in reversed(width_naf(u2, width)):
        result = group.sqr(result)
        if digit:
            result = group.mul(result, signed(group, table, abs(digit) >> 1, digit < 0))
    return group.mul(comb.multiply(u1), result)
