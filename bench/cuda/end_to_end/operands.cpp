// SPDX-License-Identifier: Apache-2.0
#include "operands.hpp"

#include <algorithm>
#include <stdexcept>
#include <thread>

namespace manymod::bench {
namespace {

void require(mm_status status) {
  if (status != MM_OK) throw std::runtime_error(mm_last_error());
}

// SplitMix64 at its step number `index`.
std::uint64_t random_limb(std::uint64_t index) {
  std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// visit(begin, end) for parts of [0, count), on all processors.
template <class Visit>
void in_parts(std::size_t count, const Visit& visit) {
  const std::size_t parts = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::jthread> threads;
  for (std::size_t part = 0; part < parts; ++part) {
    threads.emplace_back([=] { visit(count * part / parts, count * (part + 1) / parts); });
  }
}

void fill_random(std::uint64_t* limbs, std::size_t count, std::uint64_t seed) {
  in_parts(count, [=](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) limbs[i] = random_limb((seed << 40) + i);
  });
}

void set_bits(std::uint64_t* limbs, std::size_t items, std::size_t width, bool odd) {
  in_parts(items, [=](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      limbs[i * width + width - 1] |= std::uint64_t{1} << 63;
      if (odd) limbs[i * width] |= 1;
    }
  });
}

}  // namespace

DeviceArray::DeviceArray(std::size_t limbs) {
  require(mm_device_allocate(0, limbs * sizeof(std::uint64_t), &data_));
}

void DeviceArray::write(std::size_t begin, std::size_t count, const std::uint64_t* limbs) const {
  require(mm_device_copy(0, data() + begin, limbs, count * sizeof *limbs, MM_COPY_TO_DEVICE));
}

void DeviceArray::read(std::size_t begin, std::size_t count, std::uint64_t* limbs) const {
  require(mm_device_copy(0, limbs, data() + begin, count * sizeof *limbs, MM_COPY_TO_HOST));
}

Operands::Operands(std::size_t limbs) : limbs_(limbs) {
  for (auto& array : host_) array = std::make_unique_for_overwrite<std::uint64_t[]>(limbs);
}

void Operands::shape(unsigned bits) {
  width_ = bits / 64;
  for (std::size_t name = 0; name < kArrays; ++name) fill_random(host_[name].get(), limbs_, bits + name);
  set_bits(host_[kExponents].get(), items(), width_, false);
  set_bits(host_[kModuli].get(), items(), width_, true);
}

void Operands::reduce() {
  for (const Name name : {kBases, kExponents}) {
    std::uint64_t* const limbs = host_[name].get();
    in_parts(items(), [limbs, width = width_](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) limbs[i * width + width - 1] &= ~(std::uint64_t{1} << 63);
    });
  }
}

void Operands::put_on_device() {
  for (std::size_t name = 0; name < kArrays; ++name) {
    if (!device_[name]) device_[name] = std::make_unique<DeviceArray>(limbs_);
    device_[name]->write(0, limbs_, host_[name].get());
  }
}

std::vector<std::uint64_t> Operands::result(std::size_t item, bool on_device) const {
  std::vector<std::uint64_t> row(width_);
  if (on_device) {
    device_[kResults]->read(item * width_, width_, row.data());
  } else {
    std::copy_n(host_[kResults].get() + item * width_, width_, row.data());
  }
  return row;
}

void Operands::clear_result(std::size_t item, bool on_device) {
  const std::vector<std::uint64_t> zeros(width_);
  if (on_device) {
    device_[kResults]->write(item * width_, width_, zeros.data());
  } else {
    std::copy(zeros.begin(), zeros.end(), host_[kResults].get() + item * width_);
  }
}

}  // namespace manymod::bench
