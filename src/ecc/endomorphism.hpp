// SPDX-License-Identifier: Apache-2.0
// The numbers of secp256k1's endomorphism phi(x, y) = (beta x, y), multiplication by lambda (Gallant,
// Lambert, Vanstone 2001), for the host and, at compile time, for device code. reference/ecc/scalar/glv.py
// derives them and the bounds.
//
// k = k1 + k2 lambda modulo n with k1 = k - c1 a1 - c2 a2 and k2 = -c1 b1 - c2 b2, c_i = round(g_i k /
// 2^384). Then |k1| < 2^127.7 and |k2| < 2^127.2. The lattice of (i, j) with i + j lambda = 0 modulo n has
// the basis (a1, b1), (a2, b2), b2 = a1; all of its vectors but 0 have an element of more than 2^127.8 in
// absolute value.
//
// Adding (a1, b1) makes both k1 and k2 odd or even, as a1 and b1 are odd; taking (a2, b2) off changes whether
// k2 is odd only, as a2 is even. With both they can be made odd, and are below 2^129: a2 < 2^128.2 and
// -b1 + b2 < 2^128.1.
#pragma once

#include <cstdint>

namespace manymod::ecc {

/// Little-endian limbs.
struct EndomorphismNumbers {
  std::uint64_t g1[4], g2[4], a1[3], minus_b1[3], a2[3], beta[4];
};

inline constexpr EndomorphismNumbers kSecp256k1Endomorphism{
    {0xe893209a45dbb031, 0x3daa8a1471e8ca7f, 0xe86c90e49284eb15, 0x3086d221a7d46bcd},
    {0x1571b4ae8ac47f71, 0x221208ac9df506c6, 0x6f547fa90abfe4c4, 0xe4437ed6010e8828},
    {0xe86c90e49284eb15, 0x3086d221a7d46bcd, 0},
    {0x6f547fa90abfe4c3, 0xe4437ed6010e8828, 0},
    {0x57c1108d9d44cfd8, 0x14ca50f7a8e2f3f6, 1},
    {0xc1396c28719501ee, 0x9cf0497512f58995, 0x6e64479eac3434e9, 0x7ae96a2b657c0710}};

/// Bits of k1 and k2 after they were made odd.
inline constexpr unsigned kHalfBits = 129;

}  // namespace manymod::ecc
