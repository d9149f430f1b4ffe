// SPDX-License-Identifier: Apache-2.0
// Run under valgrind: the constant-time functions that users' kernels have
// (manymod/device/modular.cuh, with technique row32), compiled for the host, with operands, exponents and the
// modulus's inner words marked as undefined memory. valgrind reports each branch and each address that
// depends on them.
#include <valgrind/memcheck.h>

#include <cstdint>
#include <random>
#include <vector>

#include "ctgrind/require.hpp"
#include "manymod/device/modular.cuh"
#include "support/one_thread.hpp"

namespace {

namespace device = manymod::device;
using manymod::ctgrind::require;
using Words = std::vector<std::uint32_t>;

constexpr unsigned kBits = 256;
using Modulus = device::Modulus<kBits, 1, device::Row32, manymod::test::OneThread>;

template <class T>
void poison(T* first, std::size_t count) {
  VALGRIND_MAKE_MEM_UNDEFINED(first, count * sizeof(T));
}
void run(const Words& n, const Words& a, const Words& e) {
  const Modulus m(Modulus::words(n.data()));
  const auto x = m.to_montgomery(m.load(a.data()));

  require(m.equal(m.sqr(m.add(x, m.one())), m.add(m.sqr(x), m.add(m.add(x, x), m.one()))), "(x + 1)^2");
  require(m.is_zero(m.add(m.neg(x), m.select(m.is_zero(x), m.zero(), x))), "x - x");
  require(m.compare(m.from_montgomery(x), m.modulus()) < 0, "from_montgomery");

  const auto power = m.pow(x, Modulus::words(e.data()), kBits);
  require(m.equal(m.mul(power, power), m.pow(m.sqr(x), Modulus::words(e.data()), kBits)), "x^(2 e)");

  // n is a prime.
  bool exists = false;
  const auto inverse = m.inverse(x, exists);
  require(exists, "inverse exists");
  require(m.equal(m.mul(inverse, x), m.one()), "inverse");
  require(m.equal(m.inverse_of_prime(x), inverse), "inverse_of_prime");
  require(m.equal(m.gcd_with_modulus(m.from_montgomery(x)), m.small(1)), "gcd");
}

}  // namespace

int main() {
  std::mt19937 random(1);
  // 2^256 - 2^224 + 2^192 + 2^96 - 1, a prime.
  Words n{0xffffffff, 0xffffffff, 0xffffffff, 0, 0, 0, 1, 0xffffffff};
  Words a(kBits / 32), e(kBits / 32);
  for (std::uint32_t& word : a) word = static_cast<std::uint32_t>(random());
  for (std::uint32_t& word : e) word = static_cast<std::uint32_t>(random());
  poison(n.data() + 1, n.size() - 2);
  poison(a.data(), a.size());
  poison(e.data(), e.size());
  run(n, a, e);
  std::puts("ok");
  return 0;
}
