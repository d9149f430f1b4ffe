// SPDX-License-Identifier: Apache-2.0
// Run under valgrind: the constant-time functions of manymod/device/points.cuh, compiled for the host, with
// scalars and points marked as undefined memory. valgrind reports each branch and each address that depends
// on them.
#include <valgrind/memcheck.h>

#include <cstdint>
#include <random>
#include <vector>

#include "ctgrind/require.hpp"
#include "manymod/device/points.cuh"

namespace {

namespace device = manymod::device;
using manymod::ctgrind::require;

template <class T>
void poison(T& object) {
  VALGRIND_MAKE_MEM_UNDEFINED(&object, sizeof object);
}

template <class Curve>
void run(std::mt19937& random) {
  using Field = typename Curve::Field;
  std::uint32_t k[Curve::kOrderWords], minus_k[Curve::kOrderWords];
  for (std::uint32_t& word : k) word = static_cast<std::uint32_t>(random());
  k[Curve::kOrderWords - 1] = 0;
  std::int64_t borrow = 0;
  for (unsigned j = 0; j < Curve::kOrderWords; ++j) {
    borrow += static_cast<std::int64_t>(Curve::order_word(j)) - k[j];
    minus_k[j] = static_cast<std::uint32_t>(borrow & 0xffffffff);
    borrow >>= 32;
  }
  auto base = Curve::generator();
  bool choice = true;
  poison(k), poison(minus_k), poison(base), poison(choice);

  const auto p = Curve::multiply(base, k), q = Curve::multiply(base, minus_k);
  require(Curve::is_infinity(Curve::add(p, q)), "k G - k G");
  require(Curve::equal(Curve::negate(p), q), "negate");
  require(Curve::equal(Curve::add(p, p), Curve::twice(p)), "add equal points");
  const auto affine = Curve::to_affine(p);
  require(Curve::is_on_curve(affine), "on the curve");
  require(Curve::equal(affine, Curve::select(choice, affine, base)), "select");
  require(Curve::equal(Curve::add(p, base), Curve::add_distinct(p, base)), "mixed sums");
  require(Curve::equal(Curve::add(p, Curve::from_affine(base)), Curve::add_distinct(p, base)), "sums");
  const auto inverse = Field::inverse(Field::sub(base.x, affine.x));
  require(Curve::equal(Curve::from_affine(Curve::add_affine(affine, base, inverse)), Curve::add(p, base)),
          "affine sum");
  std::uint32_t words[Field::kWords];
  Field::store(words, affine.x);
  require(Field::equal(Field::half(Field::add(affine.x, affine.x)), Field::load(words)), "half");
}

}  // namespace

int main() {
  std::mt19937 random(3);
  run<device::P256>(random);
  run<device::Secp256k1>(random);
  run<device::P521>(random);
  return 0;
}
