// SPDX-License-Identifier: Apache-2.0
// Whole schemes that an engine computes where its points are: on a GPU, hashes and inverses modulo the order
// beside them, so that only operands and signatures are copied.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/limb.hpp"
#include "core/ticker.hpp"
#include "ecc/point_engine.hpp"

namespace manymod::ecc {

/// Operands and results of signing: rows of curve.limbs() limbs.
struct EcdsaSigning {
  NumberRows secret;  ///< 0 < d < n
  NumberRows digest;  ///< the leftmost bits of the digest, as many as n has
  /// 0 < k < n; data null: those of RFC 6979, with the hash that is as long as n, or SHA-512 for P-521
  NumberRows nonce;
  bool low_s = false;
  Limb* r = nullptr;                 ///< curve.limbs() limbs an item
  Limb* s = nullptr;                 ///< the same
  std::uint8_t* recovery = nullptr;  ///< bit 0: y is odd; bit 1: x >= n
  /// 1; or 0 where the nonce cannot be used (RFC 6979: the first candidate): r and s are undefined.
  std::uint8_t* done = nullptr;
};

struct EcdsaVerification {
  PointRows keys;  ///< any coordinates below 2^(64 curve.limbs()); none is infinity
  NumberRows digest, r, s;
  bool low_s = false;             ///< reject s > n / 2
  std::uint8_t* valid = nullptr;  ///< 1 for valid signatures, else 0, also for keys that are not on the curve
};

/// Items are disjoint between threads, as for PointEngine. Signing is constant-time.
class DeviceSchemes {
 public:
  DeviceSchemes() = default;
  DeviceSchemes(const DeviceSchemes&) = delete;
  DeviceSchemes& operator=(const DeviceSchemes&) = delete;

  /// Whether it derives nonces for this curve.
  [[nodiscard]] virtual bool has_deterministic_nonces() const = 0;
  /// @return false if the device failed: items are then undefined, and to be computed elsewhere
  [[nodiscard]] virtual bool sign(const EcdsaSigning& batch, ItemRange items,
                                  const StopToken& stop) const = 0;
  [[nodiscard]] virtual bool verify(const EcdsaVerification& batch, ItemRange items,
                                    const StopToken& stop) const = 0;

 protected:
  ~DeviceSchemes() = default;
};

}  // namespace manymod::ecc
