// SPDX-License-Identifier: Apache-2.0
#include "ecc/cuda/chunk.hpp"

#include <cstring>
#include <utility>

#include "repr/wipe.hpp"

namespace manymod::ecc::cuda {
namespace {

/// Of each array: rows are read as limbs.
constexpr std::size_t kAlignment = 256;
/// Arrays of a chunk, each of which may waste so much.
constexpr std::size_t kMostArrays = 24;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

void Chunk::begin(std::size_t first, std::uint32_t count, std::size_t bytes) {
  first_ = first;
  count_ = count;
  used_ = pinned_used_ = 0;
  results_.clear();
  const std::size_t needed = bytes * count + kMostArrays * kAlignment;
  if (memory_.bytes() < needed) {
    memory_ = gpu::DeviceBuffer();
    memory_ = gpu::DeviceBuffer(device_, needed);
  }
  if (pinned_.bytes() < needed) {
    pinned_ = gpu::PinnedBuffer();
    pinned_ = gpu::PinnedBuffer(device_, needed);
  }
}

void* Chunk::take(std::size_t bytes) {
  void* const r = memory_.as<unsigned char>() + used_;
  used_ += aligned(bytes);
  return r;
}

void* Chunk::take_pinned(std::size_t bytes) {
  void* const r = pinned_.as<unsigned char>() + pinned_used_;
  pinned_used_ += aligned(bytes);
  return r;
}

Rows Chunk::upload(const NumberRows& rows, std::size_t limbs) {
  const std::size_t count = rows.stride == 0 ? 1 : count_, bytes = count * limbs * sizeof(Limb);
  auto* const pinned = static_cast<Limb*>(take_pinned(bytes));
  if (rows.stride == limbs || count == 1) {
    std::memcpy(pinned, rows[first_], bytes);
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(pinned + i * limbs, rows[first_ + i], limbs * sizeof(Limb));
    }
  }
  void* const device = take(bytes);
  stream_->copy_to_device(device, pinned, bytes);
  const auto words = static_cast<std::uint32_t>(rows.stride == 0 ? 0 : 2 * limbs);
  return {static_cast<const std::uint32_t*>(device), words};
}

RowsOut Chunk::result(Limb* to, std::size_t limbs) {
  const std::size_t bytes = count_ * limbs * sizeof(Limb);
  void* const device = take(bytes);
  if (to != nullptr) results_.push_back({device, take_pinned(bytes), to + first_ * limbs, bytes});
  return {static_cast<std::uint32_t*>(device), static_cast<std::uint32_t>(2 * limbs)};
}

std::uint8_t* Chunk::result(std::uint8_t* to) {
  void* const device = take(count_);
  if (to != nullptr) results_.push_back({device, take_pinned(count_), to + first_, count_});
  return static_cast<std::uint8_t*>(device);
}

void Chunk::queue_results() {
  for (const Result& result : results_) stream_->copy_to_host(result.pinned, result.device, result.bytes);
}

void Chunk::finish(bool erase) {
  if (erase) stream_->set_bytes(memory_.data(), 0, used_);
  stream_->synchronize();
  for (const Result& result : results_) std::memcpy(result.to, result.pinned, result.bytes);
  if (erase) wipe_bytes(pinned_.data(), pinned_used_);
}

std::unique_ptr<Chunk> ChunkPool::take() {
  {
    const std::scoped_lock lock(mutex_);
    if (!free_.empty()) {
      std::unique_ptr<Chunk> chunk = std::move(free_.back());
      free_.pop_back();
      return chunk;
    }
  }
  return std::make_unique<Chunk>(device_);
}

void ChunkPool::give(std::unique_ptr<Chunk> chunk) {
  const std::scoped_lock lock(mutex_);
  free_.push_back(std::move(chunk));
}

}  // namespace manymod::ecc::cuda
