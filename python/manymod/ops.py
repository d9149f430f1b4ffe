# SPDX-License-Identifier: Apache-2.0
"""The operations, on batches and scalars of every accepted kind.

Any operand may be a scalar, which is then used for every item; one modulus or one exponent for a whole batch
is planned as such. If all operands are scalars the answer is a scalar. Else the answer is of the kind of the
first operand that is not:

=================================================  ======================================================
operand                                            answer
=================================================  ======================================================
int, numpy integer, gmpy2.mpz                      int, or mpz if any operand is one
list, tuple or other sequence of ints              list of int (of mpz if any of its elements is one)
`IntArray`                                         `IntArray`
numpy ``uint64[N, L]`` little-endian limbs         ``uint64[N, Lmod]``, Lmod limbs holding the widest modulus
numpy ``uint8[N, W]`` big-endian bytes             ``uint8[N, Wmod]``, Wmod bytes holding the widest modulus
numpy 1-D integers                                 1-D ``int64`` or ``uint64`` (ValueError if too narrow)
numpy 1-D objects                                  1-D objects, int or mpz as for a list
pyarrow FixedSizeBinary or Binary, big-endian      the same, Wmod bytes holding the widest modulus
pyarrow integers                                   int64 or uint64 (ValueError if too narrow)
pyarrow decimals of scale 0                        decimals of 38 or 76 digits (ValueError if too narrow)
pyarrow text, decimal or hexadecimal after 0x      text, hexadecimal where that of the operand is
pandas or polars columns of any of these           a column of that package
other DLPack arrays on the CPU, uint64 or uint8    as numpy, handed to the producer's ``from_dlpack``
`DeviceArray`, DLPack ``uint64[N, L]`` on a GPU    ``uint64[N, Lmod]`` on that GPU, of the same package
=================================================  ======================================================

One row, ``uint64[1, L]`` or ``uint8[1, W]``, is used for every item of a batch of another length, as an
int does. A 1-D array is always N integers of up to 64 bits. Arrow arrays and columns are null where an
operand is null.
"""

from manymod.arithmetic import addmod, fmamod, mulmod, negmod, sqrmod, submod
from manymod.powers import invmod, invmod_sec, powmod, powmod_sec

__all__ = [
    "addmod",
    "fmamod",
    "invmod",
    "invmod_sec",
    "mulmod",
    "negmod",
    "powmod",
    "powmod_sec",
    "sqrmod",
    "submod",
]
