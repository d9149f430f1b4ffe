// SPDX-License-Identifier: Apache-2.0
// Random bytes of libcrypto.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

namespace manymod::crypto {

/// Bytes that may become public. @throws StatusError MM_ERR_CRYPTO
void random_bytes(std::span<std::byte> to);
/// Bytes that stay secret, of a generator whose output is never public. @throws StatusError MM_ERR_CRYPTO
void private_random_bytes(std::span<std::byte> to);

/// The same for elements of which all values of all bytes are valid.
template <class T, std::size_t kExtent>
  requires std::is_integral_v<T>
void random_bytes(std::span<T, kExtent> to) {
  random_bytes(std::span<std::byte>(std::as_writable_bytes(to)));
}
template <class T, std::size_t kExtent>
  requires std::is_integral_v<T>
void private_random_bytes(std::span<T, kExtent> to) {
  private_random_bytes(std::span<std::byte>(std::as_writable_bytes(to)));
}

}  // namespace manymod::crypto
