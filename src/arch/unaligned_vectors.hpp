// SPDX-License-Identifier: Apache-2.0
// Vectors of words at any address of words: the arrays of callers are aligned to words alone. For inclusion
// in instruction-set files only.
#pragma once

#include <cstddef>

#include "core/limb.hpp"

namespace manymod {

/// `Arch`: an instruction set's policy, whose Vector is a vector of words.
template <class Arch>
class UnalignedVectors {
  using Vector = typename Arch::Vector;
  struct __attribute__((packed, may_alias)) Unaligned {
    Vector vector;
  };

 public:
  /// Vector i of those that begin at `words`.
  __attribute__((always_inline)) static Vector load(const Limb* words, std::size_t i) {
    return reinterpret_cast<const Unaligned*>(words)[i].vector;
  }
  __attribute__((always_inline)) static void store(Limb* words, std::size_t i, Vector value) {
    reinterpret_cast<Unaligned*>(words)[i].vector = value;
  }
};

}  // namespace manymod
