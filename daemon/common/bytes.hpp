// SPDX-License-Identifier: Apache-2.0
// Strings of bytes that leave nothing behind.
#pragma once

#include <openssl/crypto.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace manymod::signd {

/// Zeroes memory before it is freed: that of a vector which ends, grows, or takes another one's place. What
/// a vector has behind its size, as after clear(), is zeroed with the rest, not before.
template <class T>
struct WipingAllocator {
  using value_type = T;

  WipingAllocator() = default;
  template <class U>
  explicit WipingAllocator(const WipingAllocator<U>&) noexcept {}
  [[nodiscard]] T* allocate(std::size_t count) { return std::allocator<T>().allocate(count); }
  void deallocate(T* memory, std::size_t count) noexcept {
    OPENSSL_cleanse(memory, count * sizeof(T));
    std::allocator<T>().deallocate(memory, count);
  }
  template <class U>
  bool operator==(const WipingAllocator<U>&) const noexcept {
    return true;
  }
};

/// Everything that clients and the daemon send, receive and keep: results may be secret, and inputs.
using Bytes = std::vector<std::uint8_t, WipingAllocator<std::uint8_t>>;
using ByteSpan = std::span<const std::uint8_t>;

}  // namespace manymod::signd
