// SPDX-License-Identifier: Apache-2.0
// Runs under valgrind: the constants of a modulus that is marked as undefined memory, in the order in which
// kernels with streamed matrices read them. Whether a modulus is refused is public: declassified.supp names
// the one function that branches on it.
#include <valgrind/memcheck.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <vector>

#include "modmul/rns/constants.hpp"

namespace {

/// The constants of n for moduli of `bits` bits, ordered by pieces. Empty if n is refused.
std::vector<std::byte> streamed_constants(unsigned bits, const std::vector<manymod::Limb>& n) {
  std::vector<std::byte> block = manymod::rns::modulus_constants(bits, n);
  const manymod::cuda::Tiles tiles{manymod::rns::sizes_of(bits).quads(), 4};
  if (!block.empty()) manymod::rns::order_by_tiles(bits, tiles, block);
  return block;
}

/// The constants of poisoned and of plain moduli are the same. Returns the exit status.
int check() {
  for (const unsigned bits : {512u, 1024u, 4096u}) {
    std::vector<manymod::Limb> n(bits / 64, ~manymod::Limb{0} / 3);
    n[0] |= 1;
    const std::vector<std::byte> expected = streamed_constants(bits, n);
    VALGRIND_MAKE_MEM_UNDEFINED(n.data(), n.size() * sizeof n[0]);
    std::vector<std::byte> block = streamed_constants(bits, n);
    VALGRIND_MAKE_MEM_DEFINED(block.data(), block.size());
    if (expected.empty() || block != expected) {
      std::fprintf(stderr, "failed: constants of %u bits\n", bits);
      return 1;
    }
  }
  std::puts("constants of residue number systems");
  return 0;
}

}  // namespace

int main() {
  try {
    return check();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "failed: %s\n", error.what());
    return 1;
  }
}
