// SPDX-License-Identifier: Apache-2.0
// An engine whose multiples of the generator are wrong in one row, as after a fault of the hardware.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>

#include "ecc/forwarding_engine.hpp"

namespace manymod::test {

class FaultyEngine final : public ForwardingEngine {
 public:
  /// Row `row` of call number `call` of multiply_base is that of its neighbour, if the call has both;
  /// nullopt: of every call.
  FaultyEngine(const PointEngine& exact, std::size_t row, std::optional<unsigned> call = {})
      : ForwardingEngine(exact), row_(row), call_(call) {}

  void multiply_base(const ecc::PointResults& r, const ecc::NumberRows& k, ecc::ItemRange items,
                     TimingClass timing, const StopToken& stop) const override {
    ForwardingEngine::multiply_base(r, k, items, timing, stop);
    const unsigned call = calls_++;
    if ((call_ && call != *call_) || items.size() <= std::max<std::size_t>(row_, 1)) return;
    const std::size_t limbs = curve().limbs(), from = row_ > 0 ? row_ - 1 : row_ + 1;
    std::copy_n(r.x + from * limbs, limbs, r.x + row_ * limbs);
    std::copy_n(r.y + from * limbs, limbs, r.y + row_ * limbs);
  }

 private:
  std::size_t row_;
  std::optional<unsigned> call_;
  mutable std::atomic<unsigned> calls_{0};
};

}  // namespace manymod::test
