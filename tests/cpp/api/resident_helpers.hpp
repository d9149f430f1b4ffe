// SPDX-License-Identifier: Apache-2.0
// Calls of the C ABI on arrays in device memory, compared with the same calls on host arrays.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "manymod/manymod.h"
#include "manymod/manymod.hpp"
#include "plan_helpers.hpp"

namespace manymod::testing {

inline constexpr unsigned kAllOnDevice =
    MM_ON_DEVICE_X | MM_ON_DEVICE_Y | MM_ON_DEVICE_Z | MM_ON_DEVICE_MODULUS | MM_ON_DEVICE_RESULT;
inline constexpr std::uint64_t kJunk = 0xdeadbeefdeadbeefULL;

/// Operations of plans on x and y, element-wise ones and products of powers.
inline constexpr mm_op kPlanOperations[] = {MM_OP_ADDMOD, MM_OP_SUBMOD, MM_OP_NEGMOD, MM_OP_MULMOD,
                                            MM_OP_SQRMOD, MM_OP_POWMOD, MM_OP_INVMOD, MM_OP_MULTI_POWMOD};

/// Whether a variant that runs here offers an operation.
inline bool offered(mm_op op, mm_timing timing) {
  return std::ranges::any_of(usable_variants(),
                             [&](const mm_variant_info& variant) { return offers(variant, op, timing); });
}

/// A batch in device memory with gaps of `gap` limbs between its integers. It begins one limb after the start
/// of its allocation, as a user's slice may.
class DeviceBatch {
 public:
  DeviceBatch(const Batch& batch, std::size_t gap, unsigned device_index = 0)
      : device_index_(device_index),
        count_(batch.size()),
        width_(batch.width()),
        stride_(batch.width() + gap),
        image_(1 + batch.size() * stride_, kJunk) {
    for (std::size_t i = 0; i < count_; ++i) {
      std::copy(batch[i].begin(), batch[i].end(),
                image_.begin() + static_cast<std::ptrdiff_t>(1 + i * stride_));
    }
    EXPECT_EQ(mm_device_allocate(device_index, bytes(), &address_), MM_OK) << mm_last_error();
    copy(address_, image_.data(), MM_COPY_TO_DEVICE);
  }
  DeviceBatch(const DeviceBatch&) = delete;
  DeviceBatch& operator=(const DeviceBatch&) = delete;
  ~DeviceBatch() { EXPECT_EQ(mm_device_free(device_index_, address_), MM_OK) << mm_last_error(); }

  [[nodiscard]] std::uint64_t* limbs() const { return static_cast<std::uint64_t*>(address_) + 1; }
  [[nodiscard]] mm_view view() const { return {limbs(), count_, width_, stride_, nullptr}; }
  [[nodiscard]] mm_result result() const { return {limbs(), count_, width_, stride_, nullptr}; }

  /// Read the batch, and check that the gaps are unchanged.
  Batch read() {
    std::vector<std::uint64_t> now(image_.size());
    copy(now.data(), address_, MM_COPY_TO_HOST);
    Batch batch(count_, width_);
    EXPECT_EQ(now[0], kJunk);
    for (std::size_t i = 0; i < count_; ++i) {
      for (std::size_t j = 0; j < stride_; ++j) {
        const std::uint64_t limb = now[1 + i * stride_ + j];
        if (j < width_) {
          batch[i][j] = limb;
        } else {
          EXPECT_EQ(limb, kJunk) << "gap behind item " << i;
        }
      }
    }
    return batch;
  }

 private:
  unsigned device_index_;
  std::size_t count_, width_, stride_;
  std::vector<std::uint64_t> image_;
  void* address_ = nullptr;

  [[nodiscard]] std::size_t bytes() const { return image_.size() * sizeof(std::uint64_t); }
  void copy(void* to, const void* from, mm_copy_direction direction) const {
    EXPECT_EQ(mm_device_copy(device_index_, to, from, bytes(), direction), MM_OK) << mm_last_error();
  }
};

/// An operation and its operands in host memory.
struct CallOperands {
  mm_op op = MM_OP_MULMOD;
  Batch x{0, 1}, y{0, 1}, z{0, 1}, modulus{0, 1};
  mm_timing timing = MM_TIMING_PUBLIC;
  std::size_t count = 0;
  std::size_t terms = 0;
  std::size_t modulus_bits = 0;  ///< 0: 64 times the width of the modulus

  [[nodiscard]] mm_plan_options options(const char* device, const char* variant = nullptr) const {
    const mm_modulus_kind kind = modulus.size() == 1 && count > 1 ? MM_MODULUS_SHARED : MM_MODULUS_EACH;
    mm_plan_options options =
        plan_options(op, timing, modulus_bits != 0 ? modulus_bits : 64 * modulus.width(), kind);
    options.device = device;
    options.variant = variant;
    return options;
  }
};

/// An operation on x and y, which have an integer for each item.
inline CallOperands binary_operands(mm_op op, mm_timing timing, const Batch& x, const Batch& y,
                                    const Batch& modulus) {
  CallOperands operands;
  operands.op = op;
  operands.timing = timing;
  operands.count = x.size();
  operands.x = x;
  operands.y = y;
  operands.modulus = modulus;
  return operands;
}

/// What a call returned.
struct CallResults {
  mm_status status = MM_OK;
  Batch results{0, 1};
  std::vector<std::uint8_t> statuses;
};

/// Locations and layouts of a call's arrays.
struct Places {
  unsigned on_device = kAllOnDevice;
  std::size_t gap = 0;           ///< limbs between integers
  std::size_t result_width = 0;  ///< 0: the width of the modulus
  const char* device = "auto";
  const char* variant = nullptr;
  unsigned device_index = 0;
};

inline CallResults run_call(const CallOperands& operands, mm_plan* plan, mm_call call,
                            std::size_t result_width) {
  CallResults returned;
  returned.results = Batch(operands.count, result_width);
  returned.statuses.assign(operands.count, 0xff);
  call.struct_size = sizeof call;
  call.count = operands.count;
  call.terms = operands.terms;
  call.item_status = returned.statuses.data();
  if (call.result.limbs == nullptr) {
    call.result = {returned.results.limbs().data(), operands.count, result_width, result_width,
                   returned.results.signs().data()};
  }
  returned.status = mm_plan_run(plan, &call);
  return returned;
}

/// The results that the CPU computes for arrays in host memory.
inline CallResults host_results(const CallOperands& operands, std::size_t result_width = 0) {
  const PlanPointer plan = make_plan(operands.options("cpu"));
  mm_call call{};
  call.x = View(operands.x).get();
  call.y = View(operands.y).get();
  call.z = View(operands.z).get();
  call.modulus = View(operands.modulus).get();
  return run_call(operands, plan.get(), call, result_width != 0 ? result_width : operands.modulus.width());
}

/// The results of a call whose arrays are at `places`.
inline CallResults device_results(const CallOperands& operands, const Places& places) {
  const PlanPointer plan = make_plan(operands.options(places.device, places.variant));
  const std::size_t result_width = places.result_width != 0 ? places.result_width : operands.modulus.width();
  const DeviceBatch x(operands.x, places.gap, places.device_index),
      y(operands.y, places.gap, places.device_index), z(operands.z, places.gap, places.device_index),
      modulus(operands.modulus, places.gap, places.device_index);
  Batch junk(operands.count, result_width);
  std::fill(junk.limbs().begin(), junk.limbs().end(), kJunk);
  DeviceBatch result(junk, places.gap, places.device_index);
  const auto view_of = [&](unsigned flag, const DeviceBatch& there, const Batch& here) {
    return (places.on_device & flag) != 0 ? there.view() : View(here).get();
  };
  mm_call call{};
  call.on_device = places.on_device;
  call.device_index = places.device_index;
  call.x = view_of(MM_ON_DEVICE_X, x, operands.x);
  call.y = view_of(MM_ON_DEVICE_Y, y, operands.y);
  call.z = view_of(MM_ON_DEVICE_Z, z, operands.z);
  call.modulus = view_of(MM_ON_DEVICE_MODULUS, modulus, operands.modulus);
  const bool result_there = (places.on_device & MM_ON_DEVICE_RESULT) != 0;
  if (result_there) call.result = result.result();
  CallResults returned = run_call(operands, plan.get(), call, result_width);
  if (result_there) returned.results = result.read();
  return returned;
}

inline void expect_same(const CallResults& actual, const CallResults& expected, const std::string& what) {
  ASSERT_EQ(actual.status, expected.status) << what << ": " << mm_last_error();
  ASSERT_EQ(actual.statuses, expected.statuses) << what;
  for (std::size_t i = 0; i < expected.results.size(); ++i) {
    ASSERT_EQ(actual.results.negative(i), expected.results.negative(i)) << what << ", item " << i;
    for (std::size_t j = 0; j < expected.results.width(); ++j) {
      ASSERT_EQ(actual.results[i][j], expected.results[i][j]) << what << ", item " << i << ", limb " << j;
    }
  }
}

/// Expects the results for arrays at `places` to equal those for arrays in host memory.
inline void expect_same_as_host(const CallOperands& operands, const Places& places, const std::string& what) {
  expect_same(device_results(operands, places), host_results(operands, places.result_width),
              what + ", operation " + std::to_string(operands.op) + ", class " +
                  std::to_string(operands.timing) + ", on the device " + std::to_string(places.on_device) +
                  ", gap " + std::to_string(places.gap));
}

}  // namespace manymod::testing
