// SPDX-License-Identifier: Apache-2.0
// Structs of the C ABI that may be shorter or longer than this version's: they grow at their end only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "manymod/manymod.h"
#include "manymod/rsa.h"

namespace manymod {

/// struct_size as promised: `minimum`, version 0.1's size, or more from a caller with a newer header.
/// @throws StatusError MM_ERR_ARGUMENT
void check_struct_size(std::size_t given, std::size_t minimum, const char* what);

/// sizeof of a struct whose last member ends at `end`. A later member must not go into the padding there: the
/// size would not tell whether it is set.
constexpr std::size_t padded_size(std::size_t end, std::size_t alignment) {
  return (end + alignment - 1) / alignment * alignment;
}

#define MANYMOD_SIZE_THROUGH(Struct, member) \
  padded_size(offsetof(Struct, member) + sizeof(Struct::member), alignof(Struct))

/// Size in the first version that had the struct, the least that a caller may give: through its last member
/// then.
template <class Struct>
inline constexpr std::size_t kMinimumSize = 0;
template <>
inline constexpr std::size_t kMinimumSize<mm_call> = MANYMOD_SIZE_THROUGH(mm_call, progress_user);
template <>
inline constexpr std::size_t kMinimumSize<mm_plan_options> = MANYMOD_SIZE_THROUGH(mm_plan_options, threads);
template <>
inline constexpr std::size_t kMinimumSize<mm_fixed_base_options> =
    MANYMOD_SIZE_THROUGH(mm_fixed_base_options, progress_user);
template <>
inline constexpr std::size_t kMinimumSize<mm_variant_info> = MANYMOD_SIZE_THROUGH(mm_variant_info, reason);
template <>
inline constexpr std::size_t kMinimumSize<mm_device_info> =
    MANYMOD_SIZE_THROUGH(mm_device_info, memory_bytes);
template <>
inline constexpr std::size_t kMinimumSize<mm_cuda_info> = MANYMOD_SIZE_THROUGH(mm_cuda_info, obstacle);
template <>
inline constexpr std::size_t kMinimumSize<mm_tuning_info> = MANYMOD_SIZE_THROUGH(mm_tuning_info, rows);
template <>
inline constexpr std::size_t kMinimumSize<mm_tuning_row> = MANYMOD_SIZE_THROUGH(mm_tuning_row, evidence);
template <>
inline constexpr std::size_t kMinimumSize<mm_rsa_numbers> = MANYMOD_SIZE_THROUGH(mm_rsa_numbers, checks);
template <>
inline constexpr std::size_t kMinimumSize<mm_rsa_decode_options> =
    MANYMOD_SIZE_THROUGH(mm_rsa_decode_options, checks);
template <>
inline constexpr std::size_t kMinimumSize<mm_rsa_key_info> =
    MANYMOD_SIZE_THROUGH(mm_rsa_key_info, is_private);
template <>
inline constexpr std::size_t kMinimumSize<mm_rsa_ring_options> =
    MANYMOD_SIZE_THROUGH(mm_rsa_ring_options, blinding);
template <>
inline constexpr std::size_t kMinimumSize<mm_rsa_ring_info> =
    MANYMOD_SIZE_THROUGH(mm_rsa_ring_info, recomputed);
template <>
inline constexpr std::size_t kMinimumSize<mm_rsa_call> = MANYMOD_SIZE_THROUGH(mm_rsa_call, progress_user);

#undef MANYMOD_SIZE_THROUGH

/// The caller's struct in this version's size: members that an older header lacks are 0.
/// @throws StatusError MM_ERR_ARGUMENT
template <class Struct>
Struct struct_from_caller(const Struct& given, const char* what) {
  static_assert(kMinimumSize<Struct> > 0 && kMinimumSize<Struct> <= sizeof(Struct));
  check_struct_size(given.struct_size, kMinimumSize<Struct>, what);
  Struct known{};
  std::memcpy(&known, &given, std::min(given.struct_size, sizeof known));
  return known;
}

/// Write `filled` over as much of the caller's struct as there is; its struct_size stays.
/// @throws StatusError MM_ERR_ARGUMENT
template <class Struct>
void struct_to_caller(Struct filled, Struct& given, const char* what) {
  static_assert(kMinimumSize<Struct> > 0 && kMinimumSize<Struct> <= sizeof(Struct));
  check_struct_size(given.struct_size, kMinimumSize<Struct>, what);
  filled.struct_size = given.struct_size;
  std::memcpy(&given, &filled, std::min(given.struct_size, sizeof filled));
}

}  // namespace manymod
