// SPDX-License-Identifier: Apache-2.0
// An engine that tells which items of a call on rows its device has done.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "ecc/device_schemes.hpp"
#include "ecc/point_engine.hpp"

namespace manymod::test {

/// Passes calls on to a device, and notes which items it has done. The others have no result.
class NotingDevice final : public ecc::PointEngine, public ecc::DeviceSchemes {
 public:
  explicit NotingDevice(std::unique_ptr<const ecc::PointEngine> engine)
      : PointEngine(engine->curve()), engine_(std::move(engine)), device_(*engine_->device_schemes()) {}

  mutable std::vector<std::uint8_t> done;  ///< of the last call on rows
  mutable std::size_t computed = 0;        ///< items that it has done
  mutable bool hashes = false;             ///< whether it hashes the messages of the last call

  [[nodiscard]] const DeviceSchemes* device_schemes() const override { return this; }
  [[nodiscard]] const char* variant() const override { return engine_->variant(); }
  [[nodiscard]] std::size_t granularity() const override { return engine_->granularity(); }
  [[nodiscard]] double item_ns(ecc::PointOperation operation) const override {
    return engine_->item_ns(operation);
  }
  void multiply_base(const ecc::PointResults& r, const ecc::NumberRows& k, ecc::ItemRange items,
                     TimingClass timing, const StopToken& stop) const override {
    engine_->multiply_base(r, k, items, timing, stop);
  }
  void multiply(const ecc::PointResults& r, const ecc::NumberRows& k, const ecc::PointRows& points,
                ecc::ItemRange items, TimingClass timing, const StopToken& stop) const override {
    engine_->multiply(r, k, points, items, timing, stop);
  }
  void multiply_two(const ecc::PointResults& r, const ecc::NumberRows& u, const ecc::NumberRows& v,
                    const ecc::PointRows& points, ecc::ItemRange items,
                    const StopToken& stop) const override {
    engine_->multiply_two(r, u, v, points, items, stop);
  }
  void ladder(Limb* r, const ecc::NumberRows& k, const ecc::NumberRows& u, unsigned bits,
              ecc::ItemRange items, const StopToken& stop) const override {
    engine_->ladder(r, k, u, bits, items, stop);
  }
  void add(const ecc::PointResults& r, const ecc::PointRows& p, const ecc::PointRows& q,
           ecc::ItemRange items) const override {
    engine_->add(r, p, q, items);
  }
  void lift(Limb* r, std::uint8_t* found, const ecc::NumberRows& given, const std::uint8_t* odd,
            ecc::ItemRange items) const override {
    engine_->lift(r, found, given, odd, items);
  }
  void check(std::uint8_t* valid, const ecc::PointRows& points, ecc::ItemRange items) const override {
    engine_->check(valid, points, items);
  }
  void sum(const ecc::PointResults& r, const ecc::NumberRows& k, const ecc::PointRows& points,
           ecc::ItemRange items, const StopToken& stop) const override {
    engine_->sum(r, k, points, items, stop);
  }
  [[nodiscard]] bool offers(const ecc::RowCall& call) const override { return device_.offers(call); }
  [[nodiscard]] mm_hash message_hash() const override { return device_.message_hash(); }
  void run(const ecc::RowCall& call, ecc::ItemRange items, const StopToken& stop) const override {
    hashes = call.hashes;
    device_.run(call, items, stop);
    done.assign(call.done, call.done + items.end);
    computed += static_cast<std::size_t>(std::ranges::count(done, 1));
    for (std::size_t i = 0; i < items.end && call.result_size != 0; ++i) {
      const std::uint8_t* const result = call.result + i * call.result_stride;
      const bool is_zero =
          std::count(result, result + call.result_size, 0) == static_cast<std::ptrdiff_t>(call.result_size);
      EXPECT_EQ(is_zero, done[i] == 0) << "no number of an item without a result leaves the GPU";
    }
  }
  [[nodiscard]] bool has_deterministic_nonces() const override { return device_.has_deterministic_nonces(); }
  [[nodiscard]] bool sign(const ecc::EcdsaSigning& batch, ecc::ItemRange items,
                          const StopToken& stop) const override {
    return device_.sign(batch, items, stop);
  }
  [[nodiscard]] bool verify(const ecc::EcdsaVerification& batch, ecc::ItemRange items,
                            const StopToken& stop) const override {
    return device_.verify(batch, items, stop);
  }

 private:
  std::unique_ptr<const ecc::PointEngine> engine_;
  const DeviceSchemes& device_;
};

}  // namespace manymod::test
