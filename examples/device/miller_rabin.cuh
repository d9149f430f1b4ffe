// SPDX-License-Identifier: Apache-2.0
// Miller-Rabin tests by one thread or a group of threads per number: the device code of miller_rabin.cu.
#pragma once

#include <cstdint>

#include "manymod/device/modular.cuh"

namespace miller_rabin {

namespace device = manymod::device;

/// The words of (n - 1) / 2^twos, which is odd. In: n is odd, twos = twos_below(n).
struct OddPart {
  device::Words n;
  unsigned twos;
  MM_DEVICE std::uint32_t operator[](unsigned j) const {
    // floor((n - 1) / 2^twos) = floor(n / 2^twos), as twos > 0 and n is odd.
    return device::ShiftedRight{n, twos}[j];
  }
};

/// The largest k for which 2^k divides n - 1.
MM_DEVICE unsigned twos_below(const device::Words& n) {
  unsigned twos = 1;
  MM_ROLLED
  for (; twos < 32 * n.count() && (n[twos / 32] >> (twos % 32) & 1) == 0; ++twos) {
  }
  return twos;
}

/// Whether the modulus n is a strong probable prime to `base`. In: `most_twos` is at least twos_below() of
/// every number of the warp, so that its threads do not diverge.
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

/// Whether the modulus n passes the test to every base. In: no base is 0 modulo n.
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
