// SPDX-License-Identifier: Apache-2.0
// An engine whose multiples of the generator are wrong in one row, as after a fault of the hardware.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>

#include "ecc/point_engine.hpp"

namespace manymod::test {

class FaultyEngine final : public ecc::PointEngine {
 public:
  /// Row `row` of call number `call` of multiply_base is that of its neighbour, if the call has both;
  /// nullopt: of every call.
  FaultyEngine(const PointEngine& exact, std::size_t row, std::optional<unsigned> call = {})
      : PointEngine(exact.curve()), exact_(exact), row_(row), call_(call) {}

  [[nodiscard]] const char* variant() const override { return exact_.variant(); }
  [[nodiscard]] std::size_t granularity() const override { return exact_.granularity(); }
  [[nodiscard]] double item_ns(ecc::PointOperation operation) const override {
    return exact_.item_ns(operation);
  }
  void multiply_base(const ecc::PointResults& r, const ecc::NumberRows& k, ecc::ItemRange items,
                     TimingClass timing, const StopToken& stop) const override {
    exact_.multiply_base(r, k, items, timing, stop);
    const unsigned call = calls_++;
    if ((call_ && call != *call_) || items.size() <= std::max<std::size_t>(row_, 1)) return;
    const std::size_t limbs = curve().limbs(), from = row_ > 0 ? row_ - 1 : row_ + 1;
    std::copy_n(r.x + from * limbs, limbs, r.x + row_ * limbs);
    std::copy_n(r.y + from * limbs, limbs, r.y + row_ * limbs);
  }
  void multiply(const ecc::PointResults& r, const ecc::NumberRows& k, const ecc::PointRows& points,
                ecc::ItemRange items, TimingClass timing, const StopToken& stop) const override {
    exact_.multiply(r, k, points, items, timing, stop);
  }
  void multiply_two(const ecc::PointResults& r, const ecc::NumberRows& u, const ecc::NumberRows& v,
                    const ecc::PointRows& points, ecc::ItemRange items,
                    const StopToken& stop) const override {
    exact_.multiply_two(r, u, v, points, items, stop);
  }
  void ladder(Limb* r, const ecc::NumberRows& k, const ecc::NumberRows& u, unsigned bits,
              ecc::ItemRange items, const StopToken& stop) const override {
    exact_.ladder(r, k, u, bits, items, stop);
  }
  void add(const ecc::PointResults& r, const ecc::PointRows& p, const ecc::PointRows& q,
           ecc::ItemRange items) const override {
    exact_.add(r, p, q, items);
  }
  void lift(Limb* r, std::uint8_t* found, const ecc::NumberRows& given, const std::uint8_t* odd,
            ecc::ItemRange items) const override {
    exact_.lift(r, found, given, odd, items);
  }
  void check(std::uint8_t* valid, const ecc::PointRows& points, ecc::ItemRange items) const override {
    exact_.check(valid, points, items);
  }
  void sum(const ecc::PointResults& r, const ecc::NumberRows& k, const ecc::PointRows& points,
           ecc::ItemRange items, const StopToken& stop) const override {
    exact_.sum(r, k, points, items, stop);
  }

 private:
  const PointEngine& exact_;
  std::size_t row_;
  std::optional<unsigned> call_;
  mutable std::atomic<unsigned> calls_{0};
};

}  // namespace manymod::test
