// SPDX-License-Identifier: Apache-2.0
// Rings of private keys: mm_ecc_ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ecc/curve.hpp"
#include "ecc/plan.hpp"
#include "ecc/schemes/prepared_keys.hpp"
#include "manymod/ecc.h"

namespace manymod::ecc {

/// Immutable, so that several calls may use a ring at a time. The keys are zeroed on destruction.
class Ring {
 public:
  /// Keys on curves of a plan. Those that are none, see status(), are there too.
  /// @throws StatusError, see mm_ecc_ring_create
  Ring(const Plan& plan, const mm_ecc_ring_keys& given);

  [[nodiscard]] std::size_t size() const { return curve_.size(); }
  [[nodiscard]] const PreparedKeys& keys() const { return keys_; }
  /// The index of a key's curve in the plan.
  [[nodiscard]] std::uint32_t curve(std::size_t key) const { return curve_[key]; }
  /// MM_OK, or the status of items that name the key.
  [[nodiscard]] std::uint8_t status(std::size_t key) const { return status_[key]; }
  /// Whether all keys are on curve 0, and none has another status than MM_OK.
  [[nodiscard]] bool is_plain() const { return is_plain_; }

  /// @throws StatusError MM_ERR_ARGUMENT unless the plan has the same curves as that of the keys
  void require_curves_of(const Plan& plan) const;
  /// Writes the status of each key, unless item_status is null. @return MM_OK, or MM_ERR_ITEMS with a last
  /// error
  mm_status report(std::uint8_t* item_status) const;

 private:
  std::vector<std::shared_ptr<const Curve>> curves_;
  std::vector<std::uint32_t> curve_;
  std::vector<std::uint8_t> status_;
  PreparedKeys keys_;
  bool is_plain_ = false;

  /// Gives the key this status unless it is valid.
  void fail_unless(bool valid, std::size_t key, mm_status status);
  void prepare(const Plan& plan);
  void add_public_keys(const Plan& plan, std::span<const std::size_t> keys);
};

}  // namespace manymod::ecc

/// The ring of the C ABI.
struct mm_ecc_ring {
  mm_ecc_ring(const manymod::ecc::Plan& plan, const mm_ecc_ring_keys& keys) : ring(plan, keys) {}

  manymod::ecc::Ring ring;
};
