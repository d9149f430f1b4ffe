// SPDX-License-Identifier: Apache-2.0
// Erases memory that may hold secrets before it is freed, and arrays that do so.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "repr/canonical.hpp"

namespace manymod {

/// Zeroes `bytes` bytes at `data`. The compiler cannot remove the stores, although nothing reads them again.
inline void wipe_bytes(void* data, std::size_t bytes) {
  if (bytes == 0) return;
  std::memset(data, 0, bytes);
#if defined(__GNUC__)
  __asm__ __volatile__("" : : "r"(data) : "memory");
#else
  volatile unsigned char* p = static_cast<volatile unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i) p[i] = 0;
#endif
}

/// Zeroes limbs.
inline void wipe(std::span<Limb> limbs) { wipe_bytes(limbs.data(), limbs.size_bytes()); }

/// Zeroes at least kBytes bytes of the stack below the caller's frame. kBytes: 16384 or 65536.
template <std::size_t kBytes>
void wipe_stack();

/// Zeroes, on destruction, the stack below its owner's frame, where functions that have returned left their
/// temporaries.
template <std::size_t kBytes = 16384>
class WipedStack {
 public:
  WipedStack() = default;
  WipedStack(const WipedStack&) = delete;
  WipedStack& operator=(const WipedStack&) = delete;
  ~WipedStack() { wipe_stack<kBytes>(); }
};

/// Elements that may be secret: zeroed on destruction, unless they were released.
template <class T>
class SecretArray {
 public:
  explicit SecretArray(std::size_t size = 0) : elements_(size) {}
  explicit SecretArray(std::vector<T> elements) : elements_(std::move(elements)) {}
  SecretArray(const SecretArray&) = delete;
  SecretArray& operator=(const SecretArray&) = delete;
  ~SecretArray() { wipe_bytes(elements_.data(), elements_.size() * sizeof(T)); }

  [[nodiscard]] std::size_t size() const { return elements_.size(); }
  [[nodiscard]] T* data() { return elements_.data(); }
  [[nodiscard]] T& operator[](std::size_t i) { return elements_[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return elements_[i]; }
  [[nodiscard]] std::span<T> first(std::size_t size) { return std::span(elements_).first(size); }
  [[nodiscard]] std::span<const T> first(std::size_t size) const { return std::span(elements_).first(size); }
  [[nodiscard]] std::span<const T> all() const { return elements_; }

  /// The elements, for the caller to zero. The array is empty afterwards.
  [[nodiscard]] std::vector<T> release() { return std::exchange(elements_, {}); }

 private:
  std::vector<T> elements_;
};

}  // namespace manymod
