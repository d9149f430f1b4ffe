// SPDX-License-Identifier: Apache-2.0
#include "rsa/row_block.hpp"

#include <cstring>

#include "gpu/device_error.hpp"
#include "repr/wipe.hpp"

namespace manymod::rsa {

void RowBlock::make_room() {
  const std::size_t limbs = rows_.count() * rows_.limbs;
  Limb* const numbers = memory(2 * limbs);
  rows_.numbers = {numbers, limbs};
  rows_.powers = {numbers + limbs, limbs};
}

void RowBlock::wipe() {
  manymod::wipe(rows_.numbers);
  manymod::wipe(rows_.powers);
}

Limb* RowBlock::memory(std::size_t limbs) {
  if (device_ != nullptr && lock(limbs * sizeof(Limb))) return locked_.as<Limb>();
  device_ = nullptr;
  ordinary_.require(limbs);
  return ordinary_.data();
}

bool RowBlock::lock(std::size_t bytes) {
  if (bytes <= locked_.bytes()) return true;
  try {
    locked_.require(*device_, bytes);
  } catch (const gpu::DeviceError&) {
    return false;
  }
  std::memset(locked_.data(), 0, locked_.bytes());
  return true;
}

RowLease::RowLease(RowBlocks& from, gpu::Device* device) : from_(from), block_(from.take()) {
  if (block_ == nullptr) block_ = std::make_unique<RowBlock>(device);
}

RowLease::~RowLease() {
  if (!clean_) block_->wipe();
  from_.give(std::move(block_));
}

}  // namespace manymod::rsa
