// SPDX-License-Identifier: Apache-2.0
// Limbs in the memory of a CUDA device, allocated by this package or imported from another one.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "repr/canonical.hpp"
#include "repr/limbs.hpp"

namespace manymod::python {

namespace nb = nanobind;

namespace dlpack {
struct Tensor;
}

/// uint64[N, L] in device memory with contiguous rows at a constant, positive stride. Copies of the object
/// share the memory.
class DeviceLimbs {
 public:
  /// A new, uninitialised array.
  static DeviceLimbs allocate(unsigned device_index, std::size_t count, std::size_t width);
  /// The array in a DLPack capsule, which is consumed: uint64[N], or uint64 or int64 of shape [N, L] or [N,
  /// T, L], the latter as N T rows. Throws for anything else; the message begins with `name`.
  static DeviceLimbs from_capsule(nb::handle capsule, const char* name);

  [[nodiscard]] unsigned device_index() const { return device_index_; }
  [[nodiscard]] Limb* data() const { return data_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] std::size_t stride() const { return stride_; }
  [[nodiscard]] bool writable() const { return writable_; }
  /// Shared ownership of the memory.
  [[nodiscard]] const std::shared_ptr<void>& owner() const { return owner_; }
  /// Number of limbs from the first limb of the first row to the last limb of the last row.
  [[nodiscard]] std::size_t span() const { return count_ == 0 ? 0 : (count_ - 1) * stride_ + width_; }
  /// The shape that the producer exported.
  [[nodiscard]] const std::vector<std::size_t>& shape() const { return shape_; }
  [[nodiscard]] bool of_signed_type() const { return of_signed_type_; }

  /// Rows [start, stop).
  [[nodiscard]] DeviceLimbs part(std::size_t start, std::size_t stop) const;
  /// Copy all rows into a host array uint64[N, L].
  void to_host(nb::handle limbs) const;
  /// Copy all rows from a host array uint64[N, L].
  void from_host(nb::handle limbs) const;
  /// A copy on the same device.
  [[nodiscard]] DeviceLimbs copy() const;
  /// A copy with contiguous rows, in memory of the size of the strided array, which is zeroed when it is
  /// freed.
  [[nodiscard]] limbs::Buffer packed_on_host() const;

 private:
  void read_layout(const dlpack::Tensor& tensor, const char* name);
  void check_rows(std::size_t inner_stride, const char* name) const;

  std::shared_ptr<void> owner_;
  unsigned device_index_ = 0;
  Limb* data_ = nullptr;
  std::size_t count_ = 0;
  std::size_t width_ = 0;
  std::size_t stride_ = 0;
  bool writable_ = true;
  bool of_signed_type_ = false;
  std::vector<std::size_t> shape_;
};

/// Add DeviceLimbs to the extension module.
void bind_device(nb::module_& module);

}  // namespace manymod::python
