// SPDX-License-Identifier: Apache-2.0
// Typed, checked views of objects with the buffer protocol, such as numpy arrays.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "repr/canonical.hpp"

namespace manymod::python {

namespace nb = nanobind;

enum class Access : std::uint8_t { read, write };

/// A Py_buffer, released on destruction. The object stays exported and so cannot move its memory.
class Buffer {
 public:
  Buffer() = default;
  /// `what` is the name of the argument in messages. @throws a Python exception unless the object has that
  /// many dimensions and allows the access
  Buffer(nb::handle object, Access access, int dimensions, const char* what);
  ~Buffer() {
    if (view_.obj != nullptr) PyBuffer_Release(&view_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] std::size_t shape(int axis) const { return static_cast<std::size_t>(view_.shape[axis]); }
  [[nodiscard]] Py_ssize_t stride(int axis) const { return view_.strides[axis]; }
  [[nodiscard]] void* data() const { return view_.buf; }
  [[nodiscard]] Py_ssize_t itemsize() const { return view_.itemsize; }
  [[nodiscard]] char format() const;

 private:
  Py_buffer view_{};
};

/// uint64[N, L] with contiguous rows at a constant, positive stride.
class LimbArray {
 public:
  LimbArray(nb::handle object, Access access, const char* what);
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] std::size_t stride() const { return stride_; }
  [[nodiscard]] Limb* row(std::size_t i) const { return data_ + i * stride_; }

 private:
  Buffer buffer_;
  Limb* data_ = nullptr;
  std::size_t count_ = 0;
  std::size_t width_ = 0;
  std::size_t stride_ = 0;
};

/// uint8[N] or bool[N], contiguous; empty for None.
class ByteVector {
 public:
  ByteVector(nb::handle object, Access access, std::size_t expected_count, const char* what);
  [[nodiscard]] std::uint8_t* data() const { return data_; }
  [[nodiscard]] bool at(std::size_t i) const { return data_ != nullptr && data_[i] != 0; }

 private:
  std::optional<Buffer> buffer_;
  std::uint8_t* data_ = nullptr;
};

/// uint8[N, W] with contiguous rows at any constant stride.
class ByteArray {
 public:
  ByteArray(nb::handle object, Access access, const char* what);
  [[nodiscard]] std::size_t count() const { return buffer_.shape(0); }
  [[nodiscard]] std::size_t width() const { return buffer_.shape(1); }
  [[nodiscard]] std::uint8_t* row(std::size_t i) const {
    return static_cast<std::uint8_t*>(buffer_.data()) + static_cast<Py_ssize_t>(i) * buffer_.stride(0);
  }

 private:
  Buffer buffer_;
};

}  // namespace manymod::python
