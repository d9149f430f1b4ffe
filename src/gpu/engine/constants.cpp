// SPDX-License-Identifier: Apache-2.0
#include "gpu/engine/constants.hpp"

#include <algorithm>
#include <memory>

namespace manymod::gpu {

DeviceConstants::DeviceConstants(std::span<const std::byte> constants,
                                 std::span<const std::uint32_t> radix_squared, Workspace& workspace)
    : radix_squared_words_(static_cast<std::uint32_t>(radix_squared.size())) {
  layout_.add(constants.size());
  radix_squared_at_ = layout_.add(radix_squared.size_bytes());
  buffer_ = DeviceBuffer(workspace.stream().device(), layout_.bytes());
  std::byte* const upload = workspace.upload(layout_.bytes());
  std::ranges::copy(constants, upload);
  std::ranges::copy(std::as_bytes(radix_squared), upload + radix_squared_at_);
  workspace.stream().copy_to_device(buffer_.data(), upload, layout_.bytes());
  workspace.done().record(workspace.stream());
  workspace.done().wait();
  wipe_bytes(upload, layout_.bytes());
}

DeviceOperand DeviceConstants::radix_squared() const {
  const std::byte* const words = buffer_.as<std::byte>() + radix_squared_at_;
  return {reinterpret_cast<const std::uint32_t*>(words), radix_squared_words_, 0};
}

const DeviceConstants& ShapeConstants::on_device(Workspace& workspace) const {
  return *on_device_.get([&] {
    return std::make_unique<DeviceConstants>(source_->of_shape(*shape_), source_->radix_squared(*shape_),
                                             workspace);
  });
}

ModulusConstants::ModulusConstants(const ConstantsSource& source, const Shape& shape,
                                   std::span<const Limb> modulus)
    : source_(source), shape_(shape), modulus_(modulus.size()) {
  std::copy(modulus.begin(), modulus.end(), modulus_.data());
}

std::span<const std::byte> ModulusConstants::on_host() const {
  if (!on_host_) on_host_.emplace(source_.of_modulus(shape_, {modulus_.data(), modulus_.size()}));
  return on_host_->all();
}

bool ModulusConstants::refused() const {
  const std::scoped_lock lock(mutex_);
  return !on_device_ && on_host().empty();
}

const DeviceConstants& ModulusConstants::on_device(Workspace& workspace) const {
  const std::scoped_lock lock(mutex_);
  if (!on_device_) {
    on_device_.emplace(on_host(), source_.radix_squared(shape_), workspace);
    on_host_.reset();
  }
  return *on_device_;
}

}  // namespace manymod::gpu
