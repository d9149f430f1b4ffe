// SPDX-License-Identifier: Apache-2.0
// Run under valgrind: the recoding of secret scalars for the kernels of curves, with scalars marked as
// undefined memory. valgrind reports each branch and each address that depends on them.
#include <valgrind/memcheck.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "ecc/curve.hpp"
#include "ecc/lanes/recoding.hpp"

namespace {

using manymod::Limb;
using namespace manymod::ecc;
using namespace manymod::ecc::lanes;

template <class T>
void declassify(std::span<T> secret) {
  VALGRIND_MAKE_MEM_DEFINED(secret.data(), secret.size_bytes());
}

void require(SignedScalar& r, const char* what) {
  declassify(r.magnitude);
  declassify(std::span(&r.negative, 1));
  if ((r.magnitude[0] & 1) == 1 && (r.negative == 0 || r.negative == ~Limb{0})) return;
  std::fprintf(stderr, "failed: %s\n", what);
  std::exit(1);
}

void run(CurveId id, Limb lowest) {
  const Curve& curve = named_curve(id);
  std::vector<Limb> k(curve.scalar_limbs(), 0x9E3779B97F4A7C15), magnitude(curve.scalar_limbs());
  k.front() = lowest;
  k.back() = curve.n.back() >> 1;
  VALGRIND_MAKE_MEM_UNDEFINED(k.data(), k.size() * sizeof(Limb));
  SignedScalar odd{magnitude, 0};
  make_odd(odd, k, curve.n);
  require(odd, "make_odd");
  if (id != CurveId::secp256k1) return;
  Limb first[kHalfLimbs], second[kHalfLimbs];
  SignedScalar half[] = {{first, 0}, {second, 0}};
  split_odd(half[0], half[1], std::span<const Limb, 4>(k.data(), 4));
  require(half[0], "split_odd");
  require(half[1], "split_odd");
}

}  // namespace

int main() {
  for (const Limb lowest : {Limb{6}, Limb{7}}) {
    run(CurveId::secp256k1, lowest);
    run(CurveId::p521, lowest);
  }
  return 0;
}
