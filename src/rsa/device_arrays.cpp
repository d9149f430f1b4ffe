// SPDX-License-Identifier: Apache-2.0
#include "rsa/device_arrays.hpp"

#include <algorithm>

#include "gpu/engine/resident.hpp"

namespace manymod::rsa {

DeviceArrays::Array DeviceArrays::add_uploaded(std::size_t rows, std::size_t limbs) {
  upload_layout_.add(Array{0, limbs, rows}.bytes());
  return add(rows, limbs);
}

DeviceArrays::Array DeviceArrays::add(std::size_t rows, std::size_t limbs) {
  Array array{0, limbs, rows};
  array.at = layout_.add(array.bytes());
  return array;
}

DeviceArrays::KeyNumber DeviceArrays::add_of_key(std::span<const Limb> first, bool one_key) {
  if (one_key) return {first, {}, {}};
  return {{}, add_uploaded(rows_.runs.size(), first.size()), {}};
}

void DeviceArrays::add_each(KeyNumber& number) {
  if (number.shared.empty()) number.each = add(rows_.count(), number.once.limbs);
}

void DeviceArrays::allocate() {
  upload_ = workspace_.upload(upload_layout_.bytes());
  device_ = workspace_.on_device(layout_.bytes());
}

void DeviceArrays::put_runs(const Array& runs) const {
  for (std::size_t run = 0; run < rows_.runs.size(); ++run) {
    std::fill(uploaded(runs, rows_.runs[run].begin), uploaded(runs, rows_.runs[run].end), Limb{run});
  }
}

void DeviceArrays::upload() const {
  workspace_.stream().copy_to_device(device_, upload_, upload_layout_.bytes());
}

void DeviceArrays::copy_in(const Array& to, std::span<const Limb> rows) const {
  workspace_.stream().copy_to_device(on_device(to), rows.data(), to.bytes());
}

void DeviceArrays::copy_out(std::span<Limb> rows, const Array& from) const {
  workspace_.stream().copy_to_host(rows.data(), on_device(from), from.bytes());
}

void DeviceArrays::gather(const Array& from, const Array& list, const Array& to) const {
  gpu::RowsJob copy;
  copy.from = {on_device(from), from.limbs, on_device(list)};
  copy.to = {on_device(to), to.limbs, nullptr};
  copy.from_width = copy.to_width = static_cast<std::uint32_t>(to.limbs);
  gpu::launch_copy_rows(workspace_.stream(), copy, rows_.count());
}

}  // namespace manymod::rsa
