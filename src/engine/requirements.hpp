// SPDX-License-Identifier: Apache-2.0
// What a variant requires of the hardware, and what is known of a device: opaque to all but the backend that
// both belong to.
#pragma once

#include <string>
#include <string_view>

namespace manymod {

/// What a backend knows about one of its devices, for the requirements of its own variants.
class DeviceTraits {
 public:
  DeviceTraits() = default;
  DeviceTraits(const DeviceTraits&) = delete;
  DeviceTraits& operator=(const DeviceTraits&) = delete;
  virtual ~DeviceTraits() = default;

  /// Orders two devices of one backend with equally many units: the one with the higher value is taken to be
  /// the larger.
  [[nodiscard]] virtual int rank() const { return 0; }
};

/// Judges devices of the variant's own backend only: `traits` are always of that backend's type.
class Requirements {
 public:
  Requirements() = default;
  Requirements(const Requirements&) = delete;
  Requirements& operator=(const Requirements&) = delete;
  virtual ~Requirements() = default;

  /// The required hardware, for users: "bmi2 adx", "compute capability 9.0"; "" if nothing is required.
  [[nodiscard]] virtual std::string describe() const = 0;

  /// Why the variant cannot run on the device, as the rest of a sentence that begins with the variant; "" if
  /// it can.
  [[nodiscard]] virtual std::string obstacle(std::string_view device_name,
                                             const DeviceTraits& traits) const = 0;

  /// Whether the variant is efficient on the device. One that is not can run there, but is chosen only by
  /// name.
  [[nodiscard]] virtual bool suits([[maybe_unused]] const DeviceTraits& traits) const { return true; }

  /// Why constant-time operations are unavailable, as the rest of a sentence that begins with the variant;
  /// "" if they are available.
  [[nodiscard]] virtual std::string secret_obstacle() const { return {}; }

  /// Whether suits() requires FP64 instructions that are about as fast as FP32.
  [[nodiscard]] virtual bool wants_fast_doubles() const { return false; }
};

}  // namespace manymod
