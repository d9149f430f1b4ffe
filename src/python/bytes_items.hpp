// SPDX-License-Identifier: Apache-2.0
// Batches of byte strings as arguments and results of RSA calls of the C ABI.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "manymod/rsa.h"
#include "python/buffer.hpp"

namespace manymod::python {

/// The bytes of a contiguous bytes-like object, which stays exported and so cannot move them.
class BytesView {
 public:
  /// @throws the Python exception of PyObject_GetBuffer
  explicit BytesView(nb::handle object);
  ~BytesView() { PyBuffer_Release(&view_); }
  BytesView(const BytesView&) = delete;
  BytesView& operator=(const BytesView&) = delete;

  [[nodiscard]] mm_bytes bytes() const {
    return {static_cast<const std::uint8_t*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
};

/// A contiguous 1-D array of T; null for None.
template <typename T>
class Vector {
 public:
  Vector(nb::handle object, Access access, const char* what) {
    if (object.is_none()) return;
    buffer_.emplace(object, access, 1, what);
    const bool placed = reinterpret_cast<std::uintptr_t>(buffer_->data()) % alignof(T) == 0 &&
                        (size() < 2 || buffer_->stride(0) == sizeof(T));
    if (buffer_->itemsize() != sizeof(T) || !placed) {
      throw nb::value_error(
          (std::string(what) + ": must be contiguous, with items of " + std::to_string(sizeof(T)) + " bytes")
              .c_str());
    }
  }
  Vector(nb::handle object, Access access, std::size_t expected_size, const char* what)
      : Vector(object, access, what) {
    if (buffer_ && size() != expected_size) {
      throw nb::value_error((std::string(what) + ": must have " + std::to_string(expected_size) +
                             " elements, has " + std::to_string(size()))
                                .c_str());
    }
  }

  [[nodiscard]] T* data() const { return buffer_ ? static_cast<T*>(buffer_->data()) : nullptr; }
  [[nodiscard]] std::size_t size() const { return buffer_ ? buffer_->shape(0) : 0; }

 private:
  std::optional<Buffer> buffer_;
};

/// A tuple of the elements of a list or a tuple, and whether all of them are bytes objects.
nb::tuple taken_items(nb::handle items);

/// Input items: a tuple of bytes-like objects; uint8[N, W] with rows at a positive stride; or, with offsets
/// int64[N + 1], slices of one block of bytes. No items for None.
class BytesItems {
 public:
  BytesItems(nb::handle items, nb::handle offsets, const char* what);
  [[nodiscard]] const mm_bytes_view& view() const { return view_; }

 private:
  void read_tuple(nb::handle items, const char* what);
  void read_slices(nb::handle block, const char* what);
  void read_rows(nb::handle rows, const char* what);

  nb::object kept_;
  std::vector<mm_bytes> items_;
  std::vector<std::unique_ptr<BytesView>> exported_;
  std::optional<BytesView> block_;
  std::optional<Buffer> rows_;
  Vector<std::int64_t> offsets_;
  std::vector<std::int64_t> slices_;
  mm_bytes_view view_{};
};

}  // namespace manymod::python
