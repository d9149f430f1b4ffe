// SPDX-License-Identifier: Apache-2.0
#include "python/buffer.hpp"

#include <cstring>
#include <string>

namespace manymod::python {
namespace {

[[noreturn]] void reject(const char* what, const std::string& why) {
  throw nb::value_error((std::string(what) + ": " + why).c_str());
}

}  // namespace

Buffer::Buffer(nb::handle object, Access access, int dimensions, const char* what) {
  const int flags = PyBUF_STRIDES | PyBUF_FORMAT | (access == Access::write ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw nb::python_error();
  if (view_.ndim != dimensions) {
    const int found = view_.ndim;
    PyBuffer_Release(&view_);
    reject(what, "must have " + std::to_string(dimensions) + " dimensions, has " + std::to_string(found));
  }
  if (dimensions > 0 && view_.strides == nullptr) {  // those of ctypes give none, though asked for them
    PyBuffer_Release(&view_);
    reject(what, "must have strides, as numpy's arrays");
  }
}

char Buffer::format() const {
  const char* code = view_.format;
  if (code == nullptr) return 'B';
  if (*code == '<' || *code == '=' || *code == '@') ++code;
  return std::strlen(code) == 1 ? *code : '\0';
}

LimbArray::LimbArray(nb::handle object, Access access, const char* what) : buffer_(object, access, 2, what) {
  const char format = buffer_.format();
  if (buffer_.itemsize() != sizeof(Limb) || (format != 'L' && format != 'Q')) reject(what, "must be uint64");
  data_ = static_cast<Limb*>(buffer_.data());
  count_ = buffer_.shape(0);
  width_ = buffer_.shape(1);
  constexpr auto kLimbBytes = static_cast<Py_ssize_t>(sizeof(Limb));
  if (width_ > 1 && buffer_.stride(1) != kLimbBytes) reject(what, "rows must be contiguous");
  stride_ = width_;
  if (count_ > 1) {  // the stride of an axis shorter than 2 is meaningless
    const Py_ssize_t step = buffer_.stride(0);
    if (step < static_cast<Py_ssize_t>(width_) * kLimbBytes || step % kLimbBytes != 0) {
      reject(what, "rows must not overlap or run backwards");
    }
    stride_ = static_cast<std::size_t>(step / kLimbBytes);
  }
  if (reinterpret_cast<std::uintptr_t>(data_) % alignof(Limb) != 0) reject(what, "must be aligned");
}

ByteVector::ByteVector(nb::handle object, Access access, std::size_t expected_count, const char* what) {
  if (object.is_none()) return;
  buffer_.emplace(object, access, 1, what);
  if (buffer_->itemsize() != 1) reject(what, "must be of one-byte elements");
  if (buffer_->shape(0) != expected_count) {
    reject(what, "must have " + std::to_string(expected_count) + " elements, has " +
                     std::to_string(buffer_->shape(0)));
  }
  if (expected_count > 1 && buffer_->stride(0) != 1) reject(what, "must be contiguous");
  data_ = static_cast<std::uint8_t*>(buffer_->data());
}

ByteArray::ByteArray(nb::handle object, Access access, const char* what) : buffer_(object, access, 2, what) {
  if (buffer_.itemsize() != 1) reject(what, "must be uint8");
  if (buffer_.shape(1) > 1 && buffer_.stride(1) != 1) reject(what, "rows must be contiguous");
}

}  // namespace manymod::python
