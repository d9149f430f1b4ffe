// SPDX-License-Identifier: Apache-2.0
// The structures of DLPack 1.0 (https://dmlc.github.io/dlpack/latest/c_api.html) in the layout of its C ABI,
// which is the same in every 1.x. Older producers export the unversioned structure.
#pragma once

#include <cstdint>

namespace manymod::python::dlpack {

inline constexpr std::uint32_t kMajorVersion = 1;
inline constexpr std::uint32_t kMinorVersion = 0;

// Bits of ManagedTensorVersioned::flags.
inline constexpr std::uint64_t kReadOnly = 1;
inline constexpr std::uint64_t kIsCopied =
    2;  ///< a copy that belongs to the consumer, which may overwrite it

inline constexpr const char* kName = "dltensor";
inline constexpr const char* kUsedName = "used_dltensor";
inline constexpr const char* kVersionedName = "dltensor_versioned";
inline constexpr const char* kUsedVersionedName = "used_dltensor_versioned";

enum DeviceType : std::int32_t { kCpu = 1, kCuda = 2, kCudaManaged = 13 };
enum TypeCode : std::uint8_t { kInt = 0, kUInt = 1 };

struct Version {
  std::uint32_t major;
  std::uint32_t minor;
};

struct Device {
  std::int32_t type;
  std::int32_t index;
};

struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  std::int32_t dimensions;
  DataType type;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; null: C-contiguous
  std::uint64_t byte_offset;
};

/// The content of a capsule named "dltensor".
struct ManagedTensor {
  Tensor tensor;
  void* context;
  void (*deleter)(ManagedTensor* self);
};

/// The content of a capsule named "dltensor_versioned". With another major version only `version`,
/// `manager_ctx` and `deleter` may be used.
struct ManagedTensorVersioned {
  Version version;
  void* context;
  void (*deleter)(ManagedTensorVersioned* self);
  std::uint64_t flags;
  Tensor tensor;
};

static_assert(sizeof(Tensor) == 48 && sizeof(ManagedTensor) == 64 && sizeof(ManagedTensorVersioned) == 80);

}  // namespace manymod::python::dlpack
