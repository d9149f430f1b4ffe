// SPDX-License-Identifier: Apache-2.0
// Sums, differences and negatives of lists of mpz without rows between: from the limbs of the operands into
// those of the results. A sum of residues takes less time than copies of them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/limb.hpp"
#include "manymod/manymod.h"
#include "python/convert.hpp"
#include "python/mpz.hpp"
#include "python/stable_abi.hpp"

namespace manymod::python {

/// An operand of ListSums: mpz, or one integer for all items.
class MpzOperand {
 public:
  /// `description`: as that of a ListOperand.
  MpzOperand(const nb::tuple& description, const Gmpy2& gmpy2);

  /// Allow access to items [0, count), until Python code runs. @throws nb::value_error if there are fewer
  void open(std::size_t count);
  /// Prefetch the object of one item, and the limbs of one whose object was prefetched.
  void prefetch(std::size_t object, std::size_t limbs) const;
  /// @return whether the item is an mpz, or the integer for all, and not negative; its limbs then have no
  /// leading zero limb
  bool read(std::size_t item, std::span<const Limb>& limbs) const;
  /// The same for an operand below n, whose limbs are then as many as n has. They are valid until the next
  /// call. @return whether it is
  bool read_residue(std::size_t item, std::span<const Limb> n, std::span<const Limb>& limbs);

 private:
  const Gmpy2& gmpy2_;
  nb::object sequence_;
  std::optional<Elements> elements_;  // while it is open
  std::size_t count_ = 0;
  std::vector<Limb> single_;
  bool single_is_negative_ = false;
  std::vector<Limb> extended_;
};

/// Sums, differences or negatives of residues in lists, as the operation of a variable-time plan computes
/// them.
class ListSums {
 public:
  /// The sums of a call by ListCall's arguments; empty if it is another operation, or gmpy2's objects cannot
  /// be written directly. `modulus_bits`: those of the plan.
  static std::optional<ListSums> of(mm_op op, std::size_t modulus_bits, const nb::tuple& operands,
                                    const nb::tuple& modulus);

  /// Compute items from `first` on and append them to `results`, until `stop` or an item that needs more: one
  /// with an int, a negative number, an operand that is not below its modulus, a modulus that has no
  /// residues but 0, or long operands. @return the item that is next
  std::size_t run(std::size_t first, std::size_t stop, ElementWriter& results, std::uint8_t* status);

 private:
  ListSums(mm_op op, std::size_t modulus_bits, const Gmpy2& gmpy2)
      : op_(op), modulus_bits_(modulus_bits), gmpy2_(gmpy2) {}

  mm_op op_;
  std::size_t modulus_bits_;
  const Gmpy2& gmpy2_;
  std::vector<MpzOperand> operands_;  // and then the moduli

  bool compute(std::size_t item, ElementWriter& results);
};

}  // namespace manymod::python
