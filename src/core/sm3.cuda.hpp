// SPDX-License-Identifier: Apache-2.0
// SM3 (GB/T 32905) in device code, as a hash of core/sha2.cuda.hpp, whose words, padding and digests it has.
//
// Timing: constant-time.
#pragma once

#include <cstdint>

#include "core/portable.hpp"

namespace manymod::sha2 {

struct Sm3 {
  using Word = std::uint32_t;
  static constexpr unsigned kDigestBytes = 32;
  static constexpr Word kStart[8] = {0x7380166fu, 0x4914b2b9u, 0x172442d7u, 0xda8a0600u,
                                     0xa96f30bcu, 0x163138aau, 0xe38dee4du, 0xb0fb0e4eu};

  /// state = the state after 16 more words (section 5.3).
  MM_DEVICE static void compress(Word (&state)[8], const Word* block) {
    Word w[16];
    MM_UNROLL
    for (unsigned i = 0; i < 16; ++i) w[i] = block[i];
    Word a = state[0], b = state[1], c = state[2], d = state[3];
    Word e = state[4], f = state[5], g = state[6], h = state[7];
    MM_UNROLL
    for (unsigned round = 0; round < 64; ++round) {
      if (round >= 12) extend(w, round + 4);
      const bool early = round < 16;
      const Word constant = rotate(early ? 0x79cc4519u : 0x7a879d8au, round % 32);
      const Word turned = rotate(a, 12), first = rotate(turned + e + constant, 7), second = first ^ turned;
      const Word word = w[round % 16];
      const Word mixed = early ? a ^ b ^ c : (a & b) | (a & c) | (b & c);
      const Word chosen = early ? e ^ f ^ g : (e & f) | (~e & g);
      const Word x = mixed + d + second + (word ^ w[(round + 4) % 16]);
      const Word y = chosen + h + first + word;
      d = c, c = rotate(b, 9), b = a, a = x;
      h = g, g = rotate(f, 19), f = e, e = y ^ rotate(y, 9) ^ rotate(y, 17);
    }
    state[0] ^= a, state[1] ^= b, state[2] ^= c, state[3] ^= d;
    state[4] ^= e, state[5] ^= f, state[6] ^= g, state[7] ^= h;
  }

 private:
  MM_DEVICE static constexpr Word rotate(Word x, unsigned bits) {
    return bits == 0 ? x : x << bits | x >> (32 - bits);
  }
  /// Word j of the message, from those 3, 6, 9, 13 and 16 before it.
  MM_DEVICE static void extend(Word (&w)[16], unsigned j) {
    const Word x = w[j % 16] ^ w[(j - 9) % 16] ^ rotate(w[(j - 3) % 16], 15);
    w[j % 16] = x ^ rotate(x, 15) ^ rotate(x, 23) ^ rotate(w[(j - 13) % 16], 7) ^ w[(j - 6) % 16];
  }
};

}  // namespace manymod::sha2
