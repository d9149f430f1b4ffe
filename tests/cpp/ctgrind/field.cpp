// SPDX-License-Identifier: Apache-2.0
// Run under valgrind: the functions of field/scalar.hpp, with operands and the modulus's inner limbs marked
// as undefined memory. valgrind reports each branch and each address that depends on them.
#include "field/scalar.hpp"

#include <valgrind/memcheck.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "core/cpu_features.hpp"

namespace {

using manymod::Limb;
using Limbs = std::vector<Limb>;

template <class T>
T declassified(T secret) {
  VALGRIND_MAKE_MEM_DEFINED(&secret, sizeof secret);
  return secret;
}

void require(Limb mask, const char* what) {
  if (declassified(mask) == ~Limb{0}) return;
  std::fprintf(stderr, "failed: %s\n", what);
  std::exit(1);
}

/// n is a prime.
template <std::size_t kLimbs>
void run(const manymod::scalar64::Kernels& kernels, Limbs n) {
  std::mt19937_64 random(kLimbs);
  if (n.size() > 2) VALGRIND_MAKE_MEM_UNDEFINED(n.data() + 1, (n.size() - 2) * sizeof(Limb));
  Limbs number(kLimbs);
  for (Limb& limb : number) limb = random();
  VALGRIND_MAKE_MEM_UNDEFINED(number.data(), number.size() * sizeof(Limb));

  const manymod::field::ScalarField<kLimbs> f(kernels, n);
  typename manymod::field::ScalarField<kLimbs>::Element x, y, z, one;
  f.one(one);
  f.from_limbs(x, number);
  // (x + 1)^2 = x^2 + 2 x + 1
  f.add(y, x, one);
  f.sqr(y, y);
  f.sqr(z, x);
  f.add(z, z, x);
  f.add(z, z, x);
  f.add(z, z, one);
  f.normalize_weak(z, z);
  require(f.equal(y, z), "(x + 1)^2");

  f.half(y, x);
  f.add(y, y, y);
  f.sub(y, y, x);
  f.normalize_weak(y, y);
  require(f.is_zero(y), "x / 2 + x / 2 - x");
  f.neg(z, x);
  f.add(z, z, x);
  f.normalize_weak(z, z);
  require(f.is_zero(z), "-x + x");

  require(f.inverse(y, x), "the inverse exists");
  f.mul(y, y, x);
  require(f.equal(y, one), "x / x");
  f.cmov(y, x, f.equal(x, one) | f.is_zero(z));
  require(f.equal(x, y), "conditional move");

  Limbs back(kLimbs);
  f.to_limbs(back, x);
  f.from_limbs(y, back);
  require(f.equal(x, y), "canonical numbers");
}

void run_all(const manymod::scalar64::Kernels& kernels) {
  constexpr Limb kOnes = ~Limb{0};
  // 2^61 - 1; 2^256 - 2^32 - 977; 2^384 - 2^128 - 2^96 + 2^32 - 1; 2^521 - 1.
  run<1>(kernels, {kOnes >> 3});
  run<4>(kernels, {0xfffffffefffffc2f, kOnes, kOnes, kOnes});
  run<6>(kernels, {0xffffffff, 0xffffffff00000000, kOnes - 1, kOnes, kOnes, kOnes});
  run<9>(kernels, {kOnes, kOnes, kOnes, kOnes, kOnes, kOnes, kOnes, kOnes, 0x1ff});
}

}  // namespace

int main() {
  run_all(manymod::scalar64::generic_kernels());
#if MANYMOD_X86_64
  using manymod::CpuFeature;
  const manymod::CpuFeatures needed = CpuFeature::bmi2 | CpuFeature::adx | CpuFeature::avx2;
  if ((manymod::cpu_info().features & needed) == needed) run_all(manymod::scalar64::adx_kernels());
#endif
  std::puts("ok");
  return 0;
}
