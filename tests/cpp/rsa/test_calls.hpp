// SPDX-License-Identifier: Apache-2.0
// Short notations for rings and calls.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rsa/test_keys.hpp"

namespace manymod::testing {

struct DestroyRing {
  void operator()(mm_rsa_ring* ring) const { mm_rsa_ring_destroy(ring); }
};
using RingPointer = std::unique_ptr<mm_rsa_ring, DestroyRing>;

inline mm_rsa_ring_options ring_options(unsigned threads = 0, const char* device = "cpu") {
  mm_rsa_ring_options options{};
  options.struct_size = sizeof options;
  options.device = device;
  options.threads = threads;
  return options;
}

inline mm_rsa_ring_options with_blinding(mm_rsa_ring_options options, mm_rsa_blinding blinding) {
  options.blinding = blinding;
  return options;
}

/// A ring of the test keys of these sizes, or null and a test failure.
inline RingPointer make_ring(std::span<const std::size_t> bits,
                             const mm_rsa_ring_options& options = ring_options()) {
  std::vector<const mm_rsa_key*> keys;
  for (const std::size_t size : bits) keys.push_back(test_key(size).key.get());
  mm_rsa_ring* ring = nullptr;
  EXPECT_EQ(mm_rsa_ring_create(&options, keys.data(), keys.size(), &ring), MM_OK) << mm_last_error();
  return RingPointer(ring);
}
inline RingPointer make_ring(std::size_t bits, const mm_rsa_ring_options& options = ring_options()) {
  return make_ring(std::span(&bits, 1), options);
}

inline mm_rsa_padding padding(mm_rsa_scheme scheme, mm_hash hash = MM_HASH_NONE,
                              int salt_length = MM_RSA_SALT_DIGEST, mm_hash mgf = MM_HASH_NONE) {
  mm_rsa_padding padding{};
  padding.scheme = scheme;
  padding.hash = hash;
  padding.mgf_hash = mgf;
  padding.salt_length = salt_length;
  return padding;
}

/// Byte strings as an mm_bytes_view of pointers and sizes.
class Pointers {
 public:
  explicit Pointers(std::span<const Bytes> items) {
    for (const Bytes& item : items) items_.push_back(view_of(item));
  }
  [[nodiscard]] mm_bytes_view view() const {
    mm_bytes_view view{};
    view.count = items_.size();
    view.items = items_.data();
    return view;
  }

 private:
  std::vector<mm_bytes> items_;
};

/// The outcome of a call.
struct Results {
  mm_status status = MM_OK;
  std::vector<Bytes> outputs;  ///< truncated to their sizes
  std::vector<std::uint8_t> valid, item_status, recomputed;
  bool zero_behind = true;  ///< whether all bytes from the sizes up to the stride are 0
};

/// Run one call. `signatures`: for MM_RSA_VERIFY only; `key_of`: the key of each item, empty for key 0.
inline Results run(mm_rsa_ring* ring, mm_rsa_op op, const mm_rsa_padding& padding,
                   std::span<const Bytes> inputs, std::span<const std::uint32_t> key_of = {},
                   std::span<const Bytes> signatures = {}) {
  mm_rsa_ring_info info{};
  info.struct_size = sizeof info;
  EXPECT_EQ(mm_rsa_ring_get_info(ring, &info), MM_OK);
  const std::size_t count = inputs.size();
  const std::size_t stride = info.max_modulus_bytes;
  const Pointers input(inputs);
  const Pointers signature(signatures);
  Bytes data(count * stride, 0xee);
  std::vector<std::size_t> sizes(count, 12345);
  Results results;
  results.valid.assign(count, 7);
  results.item_status.assign(count, 99);
  results.recomputed.assign(count, 99);
  mm_rsa_call call{};
  call.struct_size = sizeof call;
  call.op = op;
  call.padding = padding;
  call.count = count;
  call.key = key_of.empty() ? nullptr : key_of.data();
  call.input = input.view();
  call.signature = signature.view();
  call.output = {data.data(), count, stride, sizes.data()};
  call.valid = results.valid.data();
  call.item_status = results.item_status.data();
  call.item_recomputed = results.recomputed.data();
  results.status = mm_rsa_run(ring, &call);
  if (op == MM_RSA_VERIFY) return results;
  for (std::size_t i = 0; i < count; ++i) {
    const auto* begin = data.data() + i * stride;
    const std::size_t size = std::min(sizes[i], stride);
    EXPECT_EQ(size, sizes[i]) << "item " << i;
    results.outputs.emplace_back(begin, begin + size);
    results.zero_behind =
        results.zero_behind && std::all_of(begin + size, begin + stride,
                                           [](std::uint8_t byte) { return byte == 0 || byte == 0xee; });
  }
  return results;
}

inline std::size_t count_of(const std::vector<std::uint8_t>& values, int value) {
  return static_cast<std::size_t>(std::count(values.begin(), values.end(), static_cast<std::uint8_t>(value)));
}

}  // namespace manymod::testing
