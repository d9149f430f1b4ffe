// SPDX-License-Identifier: Apache-2.0
// Operands of one width as users have them, in pageable memory, and copies of them on a device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "manymod/manymod.h"

namespace manymod::bench {

/// Memory of CUDA device 0.
class DeviceArray {
 public:
  /// @throws std::runtime_error
  explicit DeviceArray(std::size_t limbs);
  ~DeviceArray() { mm_device_free(0, data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  [[nodiscard]] std::uint64_t* data() const { return static_cast<std::uint64_t*>(data_); }
  void write(std::size_t begin, std::size_t count, const std::uint64_t* limbs) const;
  void read(std::size_t begin, std::size_t count, std::uint64_t* limbs) const;

 private:
  void* data_ = nullptr;
};

/// Odd moduli and exponents with their top bits set, and bases, all random; results. On the device too, after
/// put_on_device().
class Operands {
 public:
  /// `limbs` of each array.
  explicit Operands(std::size_t limbs);

  /// Fill them anew for a width.
  void shape(unsigned bits);
  /// Make bases and exponents less than the moduli, on the host.
  void reduce();
  /// @throws std::runtime_error
  void put_on_device();

  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] std::size_t items() const { return limbs_ / width_; }

  [[nodiscard]] const std::uint64_t* bases(bool on_device) const { return at(kBases, on_device); }
  [[nodiscard]] const std::uint64_t* exponents(bool on_device) const { return at(kExponents, on_device); }
  [[nodiscard]] const std::uint64_t* moduli(bool on_device) const { return at(kModuli, on_device); }
  [[nodiscard]] std::uint64_t* results(bool on_device) const { return at(kResults, on_device); }
  /// One result, wherever it is.
  [[nodiscard]] std::vector<std::uint64_t> result(std::size_t item, bool on_device) const;
  void clear_result(std::size_t item, bool on_device);

 private:
  enum Name : std::uint8_t { kBases, kExponents, kModuli, kResults };
  static constexpr std::size_t kArrays = 4;

  std::size_t limbs_;
  std::size_t width_ = 1;
  std::array<std::unique_ptr<std::uint64_t[]>, kArrays> host_;
  std::array<std::unique_ptr<DeviceArray>, kArrays> device_;

  [[nodiscard]] std::uint64_t* at(Name name, bool on_device) const {
    return on_device ? device_[name]->data() : host_[name].get();
  }
};

}  // namespace manymod::bench
