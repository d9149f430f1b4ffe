// SPDX-License-Identifier: Apache-2.0
// An engine that passes everything on to another one: tests override what shall differ.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ecc/point_engine.hpp"

namespace manymod::test {

class ForwardingEngine : public ecc::PointEngine {
 public:
  explicit ForwardingEngine(const PointEngine& exact) : PointEngine(exact.curve()), exact_(exact) {}

  [[nodiscard]] const char* variant() const override { return exact_.variant(); }
  [[nodiscard]] std::size_t granularity() const override { return exact_.granularity(); }
  [[nodiscard]] double item_ns(ecc::PointOperation operation) const override {
    return exact_.item_ns(operation);
  }
  void multiply_base(const ecc::PointResults& r, const ecc::NumberRows& k, ecc::ItemRange items,
                     TimingClass timing, const StopToken& stop) const override {
    exact_.multiply_base(r, k, items, timing, stop);
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
};

}  // namespace manymod::test
