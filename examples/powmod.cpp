// SPDX-License-Identifier: Apache-2.0
// Batched powers, inverses with a status per item, and powers of a fixed base, through the C++ wrapper.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "manymod/manymod.hpp"

namespace {

using Limbs = std::vector<std::uint64_t>;

void expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "wrong answer: %s\n", what);
  std::exit(1);
}

void show_powers() {
  const Limbs base{2, 3, 10};
  const Limbs exponent{10, 1000};  // 10 + 1000 * 2^64: an exponent of two limbs that all items share
  const Limbs modulus{1000, 101, 997};
  const manymod::Batch power = manymod::powmod({base, 1}, {exponent, 2}, {modulus, 1});
  for (std::size_t i = 0; i < power.size(); ++i) {
    std::printf("%llu^(10 + 1000 * 2^64) mod %llu = %llu\n", static_cast<unsigned long long>(base[i]),
                static_cast<unsigned long long>(modulus[i]), static_cast<unsigned long long>(power[i][0]));
  }
  // pow(b, 10 + (1000 << 64), n) in Python
  expect(power[0][0] == 24 && power[1][0] == 65 && power[2][0] == 837, "powmod");
}

void show_inverses() {
  const Limbs x{3, 6, 7};
  const Limbs modulus{10};
  manymod::Plan plan(manymod::Op::invmod, 64, manymod::ModulusKind::shared);
  manymod::Operands operands;
  operands.x = manymod::View(x, 1);
  operands.modulus = manymod::View(modulus, 1);
  std::vector<mm_status> statuses;
  const manymod::Batch inverse = plan.run(operands, &statuses);
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::printf("%llu^-1 mod 10: %s", static_cast<unsigned long long>(x[i]), mm_status_message(statuses[i]));
    if (statuses[i] == MM_OK) std::printf(", %llu", static_cast<unsigned long long>(inverse[i][0]));
    std::printf("\n");
  }
  expect(inverse[0][0] == 7 && statuses[1] == MM_ITEM_NOT_INVERTIBLE && inverse[2][0] == 3, "invmod");
}

void show_fixed_base() {
  const Limbs g{3};
  const Limbs modulus{1'000'000'007};
  const Limbs exponents{1, 2, 1'000'000'006};
  manymod::FixedBase powers(manymod::View(g, 1), manymod::View(modulus, 1), 64, manymod::Timing::secret);
  const manymod::Batch power = powers.powmod({exponents, 1});
  std::printf("3^(p-1) mod p = %llu, computed by %s\n", static_cast<unsigned long long>(power[2][0]),
              powers.variant().c_str());
  expect(power[0][0] == 3 && power[1][0] == 9 && power[2][0] == 1, "fixed base");
}

}  // namespace

int main() try {
  show_powers();
  show_inverses();
  show_fixed_base();
  return 0;
} catch (const manymod::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
