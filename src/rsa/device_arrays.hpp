// SPDX-License-Identifier: Apache-2.0
// Arrays of numbers in the memory of a GPU, for operations on the rows of a batch.
#pragma once

#include <cstddef>
#include <span>

#include "gpu/engine/workspace.hpp"
#include "gpu/program/program.hpp"
#include "repr/canonical.hpp"
#include "repr/limbs.hpp"
#include "rsa/rows.hpp"

namespace manymod::rsa {

/// Arrays in a workspace. Those that the host fills are uploaded together: they come first in the device's
/// memory, at the same offsets as in the upload buffer.
class DeviceArrays {
 public:
  struct Array {
    std::size_t at = 0;  ///< offset
    std::size_t limbs = 0;
    std::size_t rows = 0;

    [[nodiscard]] std::size_t bytes() const { return rows * limbs * sizeof(Limb); }
  };

  /// A number of the rows' keys: on the host if all rows have one key, else uploaded once for each key and
  /// copied for each row.
  struct KeyNumber {
    std::span<const Limb> shared;
    Array once, each;
  };

  /// For `rows`, which must outlive this.
  DeviceArrays(const Rows& rows, gpu::Workspace& workspace) : rows_(rows), workspace_(workspace) {}

  // ---- layout: all uploaded arrays, then the others, then allocate()

  Array add_uploaded(std::size_t rows, std::size_t limbs);
  Array add(std::size_t rows, std::size_t limbs);
  /// `first`: of the first row's key, which is that of all rows if `one_key`.
  KeyNumber add_of_key(std::span<const Limb> first, bool one_key);
  /// The array for each row, if the rows have several keys.
  void add_each(KeyNumber& number);
  /// @throws DeviceError out_of_memory
  void allocate();

  // ---- the host's side

  [[nodiscard]] Limb* uploaded(const Array& array, std::size_t row = 0) const {
    return reinterpret_cast<Limb*>(upload_ + array.at) + row * array.limbs;
  }
  void put(const Array& array, std::size_t row, std::span<const Limb> number) const {
    limbs::copy_extend({uploaded(array, row), array.limbs}, number);
  }
  /// Sets row i of `runs`, an array of single limbs, to the index of the run that has row i.
  void put_runs(const Array& runs) const;

  // ---- the device's side; work is enqueued in the workspace's stream

  [[nodiscard]] Limb* on_device(const Array& array, std::size_t row = 0) const {
    return reinterpret_cast<Limb*>(device_ + array.at) + row * array.limbs;
  }
  [[nodiscard]] BatchView view(const Array& array) const { return view(array, 0, array.rows); }
  [[nodiscard]] BatchView view(const Array& array, std::size_t first, std::size_t rows) const {
    return {on_device(array, first), rows, array.limbs, array.limbs, nullptr, true};
  }
  [[nodiscard]] BatchView view(const KeyNumber& number) const {
    return number.shared.empty() ? view(number.each) : one(number.shared);
  }
  [[nodiscard]] BatchResult result(const Array& array) const { return result(array, 0, array.rows); }
  [[nodiscard]] BatchResult result(const Array& array, std::size_t first, std::size_t rows) const {
    return {on_device(array, first), rows, array.limbs, array.limbs, nullptr, true};
  }
  [[nodiscard]] static gpu::DeviceOperand words(const Limb* limbs, std::size_t width, std::size_t stride) {
    return {reinterpret_cast<const std::uint32_t*>(limbs), static_cast<std::uint32_t>(2 * width),
            static_cast<std::uint32_t>(2 * stride)};
  }
  [[nodiscard]] gpu::DeviceOperand words(const Array& array, std::size_t first = 0) const {
    return words(on_device(array, first), array.limbs, array.limbs);
  }

  /// Copies all uploaded arrays.
  void upload() const;
  // Between an array and the rows' own memory.
  void copy_in(const Array& to, std::span<const Limb> rows) const;
  void copy_out(std::span<Limb> rows, const Array& from) const;
  /// Row i of `to` = row list[i] of `from`.
  void gather(const Array& from, const Array& list, const Array& to) const;
  /// Zeroes all arrays.
  void wipe() const { workspace_.stream().set_bytes(device_, 0, layout_.bytes()); }

 private:
  const Rows& rows_;
  gpu::Workspace& workspace_;
  gpu::BufferLayout upload_layout_, layout_;
  std::byte* upload_ = nullptr;
  std::byte* device_ = nullptr;
};

}  // namespace manymod::rsa
