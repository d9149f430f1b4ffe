// SPDX-License-Identifier: Apache-2.0
// Features of the CPU that runs this process, probed once.
//
// The environment variable MANYMOD_HIDE_CPU names features to treat as missing, separated by spaces or commas
// ("adx,avx2"; "all" hides every feature), so that variants for older hardware can be tested on any machine.
// It is read at the first use of the library; unknown names hide nothing and are reported.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace manymod {

/// Instruction-set features that a CPU variant may need.
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
/// A set of features: the bitwise or of CpuFeature values.
using CpuFeatures = std::uint32_t;
constexpr CpuFeatures operator|(CpuFeature a, CpuFeature b) {
  return static_cast<CpuFeatures>(a) | static_cast<CpuFeatures>(b);
}
constexpr CpuFeatures operator|(CpuFeatures a, CpuFeature b) { return a | static_cast<CpuFeatures>(b); }

/// The CPU of this process.
struct CpuInfo {
  std::string model;               ///< "Intel(R) Xeon(R) Processor"; "unknown CPU" if it cannot be determined
  CpuFeatures features = 0;        ///< supported by the CPU and the OS and not hidden
  CpuFeatures hidden = 0;          ///< present, but hidden by MANYMOD_HIDE_CPU
  std::uint64_t memory_bytes = 0;  ///< physical memory; 0 if unknown
  std::string unknown_hidden;      ///< names in MANYMOD_HIDE_CPU that are not features, separated by spaces
};

/// The result of the probe, which the first call performs. Thread-safe.
const CpuInfo& cpu_info();

/// Number of CPUs in this process's current affinity mask, at least 1.
unsigned usable_cpu_count();

/// Features that the CPU and the OS support, including those that MANYMOD_HIDE_CPU hides.
CpuFeatures probe_cpu_features();

/// The features that `list` names, separated by spaces or commas; "all" means every feature.
CpuFeatures parse_cpu_features(std::string_view list);

/// The names in `list` that are not features, separated by spaces. Characters other than printable ASCII
/// become '?'.
std::string unknown_cpu_features(std::string_view list);

/// The names of `features` in a fixed order, separated by spaces: "bmi2 adx avx2".
std::string cpu_feature_names(CpuFeatures features);

}  // namespace manymod
