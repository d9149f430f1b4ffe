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
    MM_ON_DEVICE_X | MM_ON_DEVICE_Y | MM_ON_DEVICE_MODULUS | MM_ON_DEVICE_RESULT;
inline constexpr std::uint64_t kJunk = 0xdeadbeefdeadbeefULL;

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

/// A call with its arrays in host memory.
struct Question {
  mm_op op = MM_OP_MULMOD;
  Batch x{0, 1}, y{0, 1}, modulus{0, 1};
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

struct Answer {
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

inline Answer run_call(const Question& question, mm_plan* plan, mm_call call, std::size_t result_width) {
  Answer answer;
  answer.results = Batch(question.count, result_width);
  answer.statuses.assign(question.count, 0xff);
  call.struct_size = sizeof call;
  call.count = question.count;
  call.terms = question.terms;
  call.item_status = answer.statuses.data();
  if (call.result.limbs == nullptr) {
    call.result = {answer.results.limbs().data(), question.count, result_width, result_width,
                   answer.results.signs().data()};
  }
  answer.status = mm_plan_run(plan, &call);
  return answer;
}

/// The answer of the CPU for host arrays.
inline Answer asked_on_host(const Question& question, std::size_t result_width = 0) {
  const PlanPointer plan = make_plan(question.options("cpu"));
  mm_call call{};
  call.x = View(question.x).get();
  call.y = View(question.y).get();
  call.modulus = View(question.modulus).get();
  return run_call(question, plan.get(), call, result_width != 0 ? result_width : question.modulus.width());
}

inline Answer asked_on_device(const Question& question, const Places& places) {
  const PlanPointer plan = make_plan(question.options(places.device, places.variant));
  const std::size_t result_width = places.result_width != 0 ? places.result_width : question.modulus.width();
  const DeviceBatch x(question.x, places.gap, places.device_index),
      y(question.y, places.gap, places.device_index),
      modulus(question.modulus, places.gap, places.device_index);
  Batch junk(question.count, result_width);
  std::fill(junk.limbs().begin(), junk.limbs().end(), kJunk);
  DeviceBatch result(junk, places.gap, places.device_index);
  const auto view_of = [&](unsigned flag, const DeviceBatch& there, const Batch& here) {
    return (places.on_device & flag) != 0 ? there.view() : View(here).get();
  };
  mm_call call{};
  call.on_device = places.on_device;
  call.device_index = places.device_index;
  call.x = view_of(MM_ON_DEVICE_X, x, question.x);
  call.y = view_of(MM_ON_DEVICE_Y, y, question.y);
  call.modulus = view_of(MM_ON_DEVICE_MODULUS, modulus, question.modulus);
  const bool result_there = (places.on_device & MM_ON_DEVICE_RESULT) != 0;
  if (result_there) call.result = result.result();
  Answer answer = run_call(question, plan.get(), call, result_width);
  if (result_there) answer.results = result.read();
  return answer;
}

inline void expect_same(const Answer& answer, const Answer& expected, const std::string& what) {
  ASSERT_EQ(answer.status, expected.status) << what << ": " << mm_last_error();
  ASSERT_EQ(answer.statuses, expected.statuses) << what;
  for (std::size_t i = 0; i < expected.results.size(); ++i) {
    ASSERT_EQ(answer.results.negative(i), expected.results.negative(i)) << what << ", item " << i;
    for (std::size_t j = 0; j < expected.results.width(); ++j) {
      ASSERT_EQ(answer.results[i][j], expected.results[i][j]) << what << ", item " << i << ", limb " << j;
    }
  }
}

/// Expect the answer for arrays at `places` to equal that for host arrays.
inline void expect_same_answer(const Question& question, const Places& places, const std::string& what) {
  expect_same(asked_on_device(question, places), asked_on_host(question, places.result_width),
              what + ", operation " + std::to_string(question.op) + ", class " +
                  std::to_string(question.timing) + ", on the device " + std::to_string(places.on_device) +
                  ", gap " + std::to_string(places.gap));
}

}  // namespace manymod::testing
