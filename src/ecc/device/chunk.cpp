// SPDX-License-Identifier: Apache-2.0
#include "ecc/device/chunk.hpp"

#include <cstring>
#include <stdexcept>
#include <utility>

#include "repr/wipe.hpp"

namespace manymod::ecc::device {
namespace {

/// Alignment of each array in bytes.
constexpr std::size_t kAlignment = 256;
/// Most arrays of a chunk; each may waste kAlignment bytes.
constexpr std::size_t kMostArrays = 64;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// The array behind those that use the first `used` bytes of a buffer. @throws std::logic_error if begin()
/// was asked for too little
template <class Buffer>
void* next_array(const Buffer& buffer, std::size_t& used, std::size_t bytes) {
  const std::size_t end = used + aligned(bytes);
  if (end > buffer.bytes()) throw std::logic_error("the arrays of a chunk exceed its memory");
  return buffer.template as<unsigned char>() + std::exchange(used, end);
}

/// Copies `count` strings of `size` bytes, in one piece where nothing is between them.
void copy_strings(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
                  std::size_t size, std::size_t count) {
  if (size == 0) return;
  if ((to_stride == size && from_stride == size) || count == 1) {
    std::memcpy(to, from, size * count);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(static_cast<std::uint8_t*>(to) + i * to_stride,
                static_cast<const std::uint8_t*>(from) + i * from_stride, size);
  }
}

/// The same of rows by their indices, from item `first` on.
void gather_strings(std::uint8_t* to, const ByteRows& from, std::size_t first, std::size_t count) {
  for (std::size_t i = first; i < first + count; ++i, to += from.size) {
    std::memcpy(to, from.data + from.indices[i] * from.stride, from.size);
  }
}

}  // namespace

void Chunk::begin(std::size_t first, std::uint32_t count, const ItemBytes& bytes) {
  first_ = first;
  count_ = count;
  used_ = pinned_used_ = operands_end_ = 0;
  results_.clear();
  memory_.require(device_, bytes.device * count + bytes.chunk_device + kMostArrays * kAlignment);
  pinned_.require(device_, bytes.pinned * count + bytes.chunk_pinned + kMostArrays * kAlignment);
}

void* Chunk::take(std::size_t bytes) { return next_array(memory_, used_, bytes); }

void* Chunk::take_pinned(std::size_t bytes) { return next_array(pinned_, pinned_used_, bytes); }

Rows Chunk::upload(const NumberRows& rows, std::size_t limbs) {
  const std::size_t count = rows.stride == 0 ? 1 : count_, bytes = count * limbs * sizeof(Limb);
  auto* const pinned = static_cast<Limb*>(take_pinned(bytes));
  copy_strings(pinned, limbs * sizeof(Limb), rows[first_], rows.stride * sizeof(Limb), limbs * sizeof(Limb),
               count);
  void* const device = take(bytes);
  stream_->copy_to_device(device, pinned, bytes);
  const auto words = static_cast<std::uint32_t>(rows.stride == 0 ? 0 : 2 * limbs);
  return {static_cast<const std::uint32_t*>(device), words};
}

Strings Chunk::upload(const ByteRows& rows) { return upload(rows, first_, rows.stride == 0 ? 1 : count_); }

Strings Chunk::upload_table(ByteRows rows) {
  rows.indices = nullptr;
  return upload(rows, 0, rows.table_size);
}

Strings Chunk::upload(const ByteRows& rows, std::size_t first, std::size_t count) {
  const std::size_t bytes = count * rows.size;
  auto* const pinned = static_cast<std::uint8_t*>(take_pinned(bytes));
  if (rows.indices == nullptr) {
    copy_strings(pinned, rows.size, rows.data + first * rows.stride, rows.stride, rows.size, count);
  } else {
    gather_strings(pinned, rows, first, count);
  }
  void* const device = take(bytes);
  stream_->copy_to_device(device, pinned, bytes);
  const auto size = static_cast<std::uint32_t>(rows.size);
  return {static_cast<const std::uint8_t*>(device), rows.stride == 0 ? 0 : size, size};
}

void Chunk::add_result(const void* device, void* to, std::size_t stride, std::size_t size) {
  if (to == nullptr) return;
  auto* const first = static_cast<std::uint8_t*>(to) + first_ * stride;
  results_.push_back({device, take_pinned(count_ * size), first, size, stride, count_});
}

RowsOut Chunk::result(Limb* to, std::size_t limbs) {
  const std::size_t size = limbs * sizeof(Limb);
  void* const device = take(count_ * size);
  add_result(device, to, size, size);
  return {static_cast<std::uint32_t*>(device), static_cast<std::uint32_t>(2 * limbs)};
}

std::uint8_t* Chunk::result(std::uint8_t* to) { return result(to, 1, 1); }

std::uint8_t* Chunk::upload(const std::uint8_t* bytes) {
  auto* const pinned = static_cast<std::uint8_t*>(take_pinned(count_));
  std::memcpy(pinned, bytes + first_, count_);
  auto* const device = static_cast<std::uint8_t*>(take(count_));
  stream_->copy_to_device(device, pinned, count_);
  return device;
}

std::uint8_t* Chunk::result(std::uint8_t* to, std::size_t stride, std::size_t size) {
  void* const device = take(count_ * size);
  add_result(device, to, stride, size);
  return static_cast<std::uint8_t*>(device);
}

void* Chunk::whole_result(void* to, std::size_t bytes) {
  void* const device = take(bytes);
  results_.push_back({device, take_pinned(bytes), to, bytes, bytes, 1});
  return device;
}

void Chunk::end_operands() {
  operands_end_ = pinned_used_;
  copied_->record(*stream_);
}

void Chunk::queue_results() {
  for (const Result& result : results_) {
    stream_->copy_to_host(result.pinned, result.device, result.count * result.size);
  }
}

void Chunk::wait(Secrecy secrecy) {
  if (secrecy != Secrecy::none) {
    stream_->set_bytes(memory_.data(), 0, used_);
    // While the GPU computes.
    copied_->wait();
    wipe_bytes(pinned_.data(), operands_end_);
  }
  stream_->synchronize();
}

void Chunk::store_results(Secrecy secrecy) {
  for (const Result& result : results_) {
    copy_strings(result.to, result.stride, result.pinned, result.size, result.size, result.count);
  }
  if (secrecy != Secrecy::all) return;
  wipe_bytes(pinned_.as<std::uint8_t>() + operands_end_, pinned_used_ - operands_end_);
}

}  // namespace manymod::ecc::device
