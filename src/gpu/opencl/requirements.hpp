// SPDX-License-Identifier: Apache-2.0
// What a technique's OpenCL kernels require of a device, and which techniques computed wrong results on it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/requirements.hpp"

namespace manymod::opencl {

/// A device's double precision, in increasing order. none: absent, or without a correctly rounded fma. exact:
/// with one. fast: also known to run at half the single-precision rate or more.
enum class Doubles : std::uint8_t { none, exact, fast };

class OpenclTraits final : public DeviceTraits {
 public:
  OpenclTraits(unsigned index, bool is_cpu, Doubles doubles = Doubles::none)
      : index_(index), is_cpu_(is_cpu), doubles_(doubles) {}
  [[nodiscard]] unsigned index() const { return index_; }
  [[nodiscard]] bool is_cpu() const { return is_cpu_; }
  [[nodiscard]] Doubles doubles() const { return doubles_; }
  [[nodiscard]] int rank() const override { return is_cpu_ ? 0 : 1; }

 private:
  unsigned index_;
  bool is_cpu_;
  Doubles doubles_;
};

/// The kind of device on which a technique is efficient.
enum class DeviceKind : std::uint8_t { any, cpu, gpu };

/// The requirements of a technique, named by its folder. Constant-time operations require
/// MANYMOD_OPENCL_SECRET=1 in the environment: nothing is known of the machine code that drivers make of
/// kernels. A technique on doubles needs them exact, and is efficient where they are fast.
std::shared_ptr<const Requirements> requirements(std::string_view technique, DeviceKind efficient_on,
                                                 bool on_doubles = false);

/// From now on the technique's variants cannot run on the device. Thread-safe.
void disqualify(unsigned device_index, std::string_view technique, const std::string& reason);
/// For tests: no technique is disqualified.
void forget_disqualified();

}  // namespace manymod::opencl
