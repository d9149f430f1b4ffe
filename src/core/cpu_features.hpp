// SPDX-License-Identifier: Apache-2.0
// What the CPU this process runs on can do, probed once.
//
// The environment variable MANYMOD_HIDE_CPU names features to treat as missing, separated by spaces or commas
// ("adx,avx2"; "all" hides every one), so that the variants for lesser hardware can be tested on any machine.
// It is read at the first use of the library; names it does not know hide nothing and are reported.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace manymod {

/// Instruction-set features a CPU variant may need; probed once.
enum class CpuFeature : std::uint32_t {
  bmi2 = 1u << 0,
  adx = 1u << 1,
  avx2 = 1u << 2,
  fma = 1u << 3,
  avx512f = 1u << 4,
  avx512dq = 1u << 5,
  avx512bw = 1u << 6,
  avx512vl = 1u << 7,
  avx512ifma = 1u << 8,
  avx512vbmi = 1u << 9,
};
using CpuFeatures = std::uint32_t;
constexpr CpuFeatures operator|(CpuFeature a, CpuFeature b) {
  return static_cast<CpuFeatures>(a) | static_cast<CpuFeatures>(b);
}
constexpr CpuFeatures operator|(CpuFeatures a, CpuFeature b) { return a | static_cast<CpuFeatures>(b); }

struct CpuInfo {
  std::string model;         ///< "Intel(R) Xeon(R) Processor"; "unknown CPU" where it cannot be told
  CpuFeatures features = 0;  ///< usable: the CPU has them, the OS saves their registers, nobody hid them
  CpuFeatures hidden = 0;    ///< present, but hidden by MANYMOD_HIDE_CPU
  std::uint64_t memory_bytes = 0;  ///< physical memory; 0 if unknown
  std::string unknown_hidden;      ///< names in MANYMOD_HIDE_CPU that are no feature, spaces between them
};

/// The probe's result, constant after the first call.
const CpuInfo& cpu_info();

/// CPUs this process may run on now (its affinity mask), at least 1.
unsigned usable_cpu_count();

/// Features of the processor with OS support, nothing hidden.
CpuFeatures probe_cpu_features();

/// The features named in `list` (spaces or commas between them; "all" for every one).
CpuFeatures parse_cpu_features(std::string_view list);

/// The names in `list` that are no feature, spaces between them; what is not printable ASCII becomes '?'.
std::string unknown_cpu_features(std::string_view list);

/// Names in a fixed order with spaces between them: "bmi2 adx avx2".
std::string cpu_feature_names(CpuFeatures features);

}  // namespace manymod
