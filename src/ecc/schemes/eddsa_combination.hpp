// SPDX-License-Identifier: Apache-2.0
// One equation for many signatures: sum z R + sum z k A - sum z S B with random z of 128 bits (RFC 8032,
// section 8.9; Bernstein et al., "High-speed high-security signatures", 2011, section 5). If S B - k A - R is
// not of small order for any item, the sum is of small order with a probability of about 2^-128.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ecc/schemes/eddsa_parts.hpp"

namespace manymod::ecc::eddsa {

/// The terms of the sum. For public data: variable-time.
class Combination {
 public:
  /// Room for `items` items, with fresh random numbers for them.
  /// @throws StatusError MM_ERR_CRYPTO if libcrypto gives no random bytes
  Combination(const PointEngine& engine, const Order& order, std::size_t items);

  /// The key of the items that follow. Scalars of one key are added before they are multiplied by its point.
  void begin_key(const Limb* x, const Limb* y);
  /// An item: R, S and k.
  void add(const Limb* r_x, const Limb* r_y, const Limb* s, const Limb* k);

  /// (x, y) = the sum; some point if a stop was requested.
  void sum(Limb* x, Limb* y, const StopToken& stop);

 private:
  static constexpr std::size_t kRandomBytes = 16;

  /// Scalars and points side by side.
  struct Terms {
    std::vector<Limb> scalar, x, y;
    void append(std::span<const Limb> k, const Limb* x_coordinate, const Limb* y_coordinate,
                std::size_t width);
  };

  const PointEngine& engine_;
  const Order& order_;
  std::size_t width_, limbs_;
  std::vector<std::uint8_t> random_;
  std::size_t items_ = 0;
  Terms commitments_;  ///< first, as their scalars are short
  Terms keys_;
  std::vector<Limb> responses_;  ///< sum z S
};

}  // namespace manymod::ecc::eddsa
