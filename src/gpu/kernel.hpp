// SPDX-License-Identifier: Apache-2.0
// A kernel of this library on one device.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace manymod::gpu {

class Stream;

/// Which kernel a caller wants.
struct KernelId {
  std::string name;  ///< of its function, unique
  /// Where backends that compile kernels find it: a file, its path below src/ without the suffix. Empty for
  /// the kernels of the layer gpu/ ("mm_<name>"), which every backend has its own source of, and for kernels
  /// that are compiled with the library.
  std::string source;
  /// Macros of the source, as options of its compiler: " -DMM_PART_base".
  std::string definitions;

  // For callers that have only a name.
  KernelId(const char* its_name) : name(its_name) {}             // NOLINT(google-explicit-constructor)
  KernelId(std::string its_name) : name(std::move(its_name)) {}  // NOLINT(google-explicit-constructor)
  KernelId(std::string its_name, std::string its_source, std::string its_definitions)
      : name(std::move(its_name)), source(std::move(its_source)), definitions(std::move(its_definitions)) {}
};

struct LaunchShape {
  unsigned grid = 1;             ///< blocks
  unsigned block = 1;            ///< threads per block
  std::size_t shared_bytes = 0;  ///< dynamic shared memory per block
};

class Kernel {
 public:
  virtual ~Kernel() = default;

  /// How many blocks of that size are resident on a multiprocessor at the same time; 0 if none fits.
  [[nodiscard]] virtual unsigned blocks_per_multiprocessor(unsigned block,
                                                           std::size_t shared_bytes) const = 0;

  /// Enqueues the kernel. `stream` belongs to the kernel's device. The argument is copied before this
  /// returns. Its type tells by a static function device_pointers() at which offsets it has pointers to
  /// device memory, for backends whose kernels cannot take addresses; a type without this function is for
  /// other backends only. @throws DeviceError
  template <class Argument>
  void launch(const Stream& stream, const LaunchShape& shape, const Argument& argument) const {
    static_assert(std::is_trivially_copyable_v<Argument> && sizeof(Argument) <= 4096);
    if constexpr (requires { Argument::device_pointers(); }) {
      launch_with(stream, shape, &argument, sizeof argument, Argument::device_pointers());
    } else {
      launch_with(stream, shape, &argument, sizeof argument, {});
    }
  }

 protected:
  Kernel() = default;
  Kernel(const Kernel&) = default;
  Kernel& operator=(const Kernel&) = default;

 private:
  virtual void launch_with(const Stream& stream, const LaunchShape& shape, const void* argument,
                           std::size_t bytes, std::span<const std::size_t> pointers) const = 0;
};

}  // namespace manymod::gpu
