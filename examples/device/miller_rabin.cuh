// SPDX-License-Identifier: Apache-2.0
// A round of the Miller-Rabin test by one thread or a group of threads: device code of miller_rabin.cu.
#pragma once

#include <cstdint>

#include "manymod/device/modular.cuh"

namespace miller_rabin {

namespace device = manymod::device;

/// n - 1 = 2^twos times an odd number: the words of that number. n is odd.
struct OddPart {
  device::Words n;
  unsigned twos;
  MM_DEVICE std::uint32_t operator[](unsigned j) const {
    // floor((n - 1) / 2^twos) = floor(n / 2^twos), as twos > 0 and n's lowest bit is the one that is taken.
    return device::ShiftedRight{n, twos}[j];
  }
};

/// How often 2 divides n - 1.
MM_DEVICE unsigned twos_below(const device::Words& n) {
  unsigned twos = 1;
  MM_ROLLED
  for (; twos < 32 * n.count() && (n[twos / 32] >> (twos % 32) & 1) == 0; ++twos) {
  }
  return twos;
}

/// Whether n, the modulus, is a strong probable prime to a base. `most_twos`: at least twos_below() of all
/// the numbers that a warp works on, so that its threads stay together.
template <class Modulus>
MM_DEVICE bool passes(const Modulus& m, const device::Words& n, std::uint32_t base, unsigned most_twos) {
  const unsigned twos = twos_below(n);
  const auto one = m.one(), minus_one = m.neg(one);
  auto x = m.pow_public(m.to_montgomery(m.small(base)), OddPart{n, twos}, 32 * Modulus::kWords);
  bool passed = m.equal(x, one);
  MM_ROLLED
  for (unsigned i = 0; i < most_twos; ++i) {
    const bool is_minus_one = m.equal(x, minus_one);
    passed = passed || (i < twos && is_minus_one);
    x = m.sqr(x);
  }
  return passed;
}

/// Whether n passes the rounds with all of the bases, each of which is taken modulo n and must not be 0 then.
template <class Modulus>
MM_DEVICE bool is_probable_prime(const Modulus& m, const device::Words& n, const std::uint32_t* bases,
                                 unsigned count, unsigned most_twos) {
  bool prime = true;
  MM_ROLLED
  for (unsigned i = 0; i < count; ++i) {
    const bool passed = passes(m, n, bases[i], most_twos);
    prime = prime && passed;
  }
  return prime;
}

}  // namespace miller_rabin
