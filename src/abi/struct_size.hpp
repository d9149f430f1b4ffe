// SPDX-License-Identifier: Apache-2.0
// Structs of the C ABI from callers with an older or newer header. Structs only gain members at their end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "core/read_once.hpp"
#include "manymod/ecc.h"
#include "manymod/manymod.h"
#include "manymod/rsa.h"
#include "manymod/service.h"

namespace manymod {

/// Check that struct_size is at least `minimum`, the size in version 0.1. It may be larger than this
/// version's size, up to kMaximumSize, if the caller has a newer header. `what` is the struct's name in the
/// message.
/// @throws StatusError MM_ERR_ARGUMENT
void check_struct_size(std::size_t given, std::size_t minimum, const char* what);

/// Larger than any struct will be.
inline constexpr std::size_t kMaximumSize = 4096;

/// Check that the members behind the `known` bytes of a struct of `size` bytes, which a newer header has, are
/// not used: their bytes are 0.
/// @throws StatusError MM_ERR_ARGUMENT
void check_unknown_members(const void* given, std::size_t known, std::size_t size, const char* what);

/// sizeof of a struct whose last member ends at `end`. A member that is added later must not lie in the
/// padding behind it, as the size would not reveal whether the caller has set it.
constexpr std::size_t padded_size(std::size_t end, std::size_t alignment) {
  return (end + alignment - 1) / alignment * alignment;
}

/// Size of the struct in the first version that had it, the smallest size that a caller may give.
template <class Struct>
inline constexpr std::size_t kMinimumSize = 0;

/// The struct's last member in that version.
#define MANYMOD_FIRST_VERSION_ENDS_WITH(Struct, member) \
  template <>                                           \
  inline constexpr std::size_t kMinimumSize<Struct> =   \
      padded_size(offsetof(Struct, member) + sizeof(Struct::member), alignof(Struct))

MANYMOD_FIRST_VERSION_ENDS_WITH(mm_call, progress_user);
MANYMOD_FIRST_VERSION_ENDS_WITH(mm_plan_options, threads);
MANYMOD_FIRST_VERSION_ENDS_WITH(mm_fixed_base_options, progress_user);
MANYMOD_FIRST_VERSION_ENDS_WITH(mm_variant_info, reason);
MANYMOD_FIRST_VERSION_ENDS_WITH(mm_device_info, memory_bytes);
MANYMOD_FIRST_VERSION_ENDS_WITH(mm_cuda_info, obstacle);
MANYMOD_FIRST_VERSION_ENDS_WITH(mm_opencl_info, obstacle);
MANYMOD_FIRST_VERSION_ENDS_WITH(mm_tuning_info, rows);
MANYMOD_FIRST_VERSION_ENDS_WITH(mm_tuning_row, evidence);
MANYMOD_FIRST_VERSION_ENDS_WITH(mm_rsa_numbers, checks);
MANYMOD_FIRST_VERSION_ENDS_WITH(mm_rsa_decode_options, checks);
MANYMOD_FIRST_VERSION_ENDS_WITH(mm_rsa_key_info, is_private);
MANYMOD_FIRST_VERSION_ENDS_WITH(mm_rsa_ring_options, blinding);
MANYMOD_FIRST_VERSION_ENDS_WITH(mm_rsa_ring_info, recomputed);
MANYMOD_FIRST_VERSION_ENDS_WITH(mm_rsa_call, progress_user);
MANYMOD_FIRST_VERSION_ENDS_WITH(mm_ecc_curve_numbers, cofactor);
MANYMOD_FIRST_VERSION_ENDS_WITH(mm_ecc_curve_info, signature_bytes);
MANYMOD_FIRST_VERSION_ENDS_WITH(mm_ecc_decode_options, public_only);
MANYMOD_FIRST_VERSION_ENDS_WITH(mm_ecc_key_info, public_bytes);
MANYMOD_FIRST_VERSION_ENDS_WITH(mm_ecc_plan_options, threads);
MANYMOD_FIRST_VERSION_ENDS_WITH(mm_ecc_ring_keys, item_status);
MANYMOD_FIRST_VERSION_ENDS_WITH(mm_ecc_call, progress_user);
MANYMOD_FIRST_VERSION_ENDS_WITH(mm_service_options, max_concurrent);
MANYMOD_FIRST_VERSION_ENDS_WITH(mm_service_request, room_ns);
MANYMOD_FIRST_VERSION_ENDS_WITH(mm_service_requests, room_ns);
MANYMOD_FIRST_VERSION_ENDS_WITH(mm_service_statistics, answered);

#undef MANYMOD_FIRST_VERSION_ENDS_WITH

/// The caller's struct in the size of this version. Members that the caller's header does not have are 0.
/// @throws StatusError MM_ERR_ARGUMENT also if a member that this version does not know is not 0: ignoring it
/// would do something else than the caller asked for
template <class Struct>
Struct struct_from_caller(const Struct& given, const char* what) {
  static_assert(kMinimumSize<Struct> > 0 && kMinimumSize<Struct> <= sizeof(Struct));
  const std::size_t size = read_once(given.struct_size);
  check_struct_size(size, kMinimumSize<Struct>, what);
  check_unknown_members(&given, sizeof given, size, what);
  Struct known{};
  std::memcpy(&known, &given, std::min(size, sizeof known));
  known.struct_size = size;
  return known;
}

/// Copy `filled` to the caller's struct, up to the size of the smaller one. The caller's struct_size is kept.
/// @throws StatusError MM_ERR_ARGUMENT
template <class Struct>
void struct_to_caller(Struct filled, Struct& given, const char* what) {
  static_assert(kMinimumSize<Struct> > 0 && kMinimumSize<Struct> <= sizeof(Struct));
  const std::size_t size = read_once(given.struct_size);
  check_struct_size(size, kMinimumSize<Struct>, what);
  filled.struct_size = size;
  std::memcpy(&given, &filled, std::min(size, sizeof filled));
}

}  // namespace manymod
