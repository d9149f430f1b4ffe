// SPDX-License-Identifier: Apache-2.0
#include "core/cpu_features.hpp"

#include "core/environment.hpp"
#include "core/published_once.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <memory>
#include <thread>
#include <utility>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#define MANYMOD_HAVE_CPUID 1
#endif
#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

namespace manymod {
namespace {

constexpr std::array<std::pair<CpuFeature, std::string_view>, 10> kFeatureNames{{
    {CpuFeature::bmi2, "bmi2"},
    {CpuFeature::adx, "adx"},
    {CpuFeature::avx2, "avx2"},
    {CpuFeature::fma, "fma"},
    {CpuFeature::avx512f, "avx512f"},
    {CpuFeature::avx512dq, "avx512dq"},
    {CpuFeature::avx512bw, "avx512bw"},
    {CpuFeature::avx512vl, "avx512vl"},
    {CpuFeature::avx512ifma, "avx512ifma"},
    {CpuFeature::avx512vbmi, "avx512vbmi"},
}};

constexpr CpuFeatures bit(CpuFeature feature) { return static_cast<CpuFeatures>(feature); }

#ifdef MANYMOD_HAVE_CPUID

struct CpuidRegisters {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

CpuidRegisters cpuid(unsigned leaf, unsigned subleaf = 0) {
  CpuidRegisters r;
  if (__get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx) == 0) return {};
  return r;
}

// XCR0, the register files that the OS saves on a context switch (Intel SDM vol. 1, 13.3). Needs OSXSAVE.
std::uint64_t xcr0() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  __asm__ __volatile__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t{high} << 32) | low;
}

CpuFeatures probe_x86() {
  const CpuidRegisters leaf1 = cpuid(1);
  const CpuidRegisters leaf7 = cpuid(7);
  const auto has = [](unsigned reg, unsigned index) { return ((reg >> index) & 1u) != 0; };
  const bool osxsave = has(leaf1.ecx, 27);
  const std::uint64_t saved = osxsave ? xcr0() : 0;
  const bool ymm_saved = (saved & 0x6) == 0x6;
  const bool zmm_saved = (saved & 0xe6) == 0xe6;

  CpuFeatures features = 0;
  const auto add = [&features](bool present, CpuFeature feature) {
    if (present) features |= bit(feature);
  };
  add(has(leaf7.ebx, 8), CpuFeature::bmi2);
  add(has(leaf7.ebx, 19), CpuFeature::adx);
  add(ymm_saved && has(leaf1.ecx, 28) && has(leaf7.ebx, 5), CpuFeature::avx2);
  add(ymm_saved && has(leaf1.ecx, 12), CpuFeature::fma);
  const bool avx512f = zmm_saved && has(leaf7.ebx, 16);
  add(avx512f, CpuFeature::avx512f);
  add(avx512f && has(leaf7.ebx, 17), CpuFeature::avx512dq);
  add(avx512f && has(leaf7.ebx, 30), CpuFeature::avx512bw);
  add(avx512f && has(leaf7.ebx, 31), CpuFeature::avx512vl);
  add(avx512f && has(leaf7.ebx, 21), CpuFeature::avx512ifma);
  add(avx512f && has(leaf7.ecx, 1), CpuFeature::avx512vbmi);
  return features;
}

std::string brand_string() {
  if (cpuid(0x80000000u).eax < 0x80000004u) return {};
  std::array<char, 49> text{};
  for (std::size_t part = 0; part < 3; ++part) {
    const CpuidRegisters r = cpuid(0x80000002u + static_cast<unsigned>(part));
    const std::array<unsigned, 4> words{r.eax, r.ebx, r.ecx, r.edx};
    std::memcpy(text.data() + 16 * part, words.data(), 16);
  }
  return text.data();
}

#endif

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  const auto last = text.find_last_not_of(" \t\n");
  return text.substr(first, last - first + 1);
}

std::string model_from_proc() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = trimmed(line.substr(0, colon));
    if (key == "model name" || key == "Model" || key == "cpu model") return trimmed(line.substr(colon + 1));
  }
  return {};
}

std::string probe_model() {
  std::string model;
#ifdef MANYMOD_HAVE_CPUID
  model = trimmed(brand_string());
#endif
  if (model.empty()) model = model_from_proc();
  return model.empty() ? "unknown CPU" : model;
}

std::uint64_t physical_memory() {
#if defined(_SC_PHYS_PAGES) && defined(_SC_PAGESIZE)
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_size = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page_size > 0) {
    return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_size);
  }
#endif
  return 0;
}

CpuInfo probe() {
  const CpuFeatures present = probe_cpu_features();
  const char* environment = environment_variable("MANYMOD_HIDE_CPU");
  const std::string_view list = environment == nullptr ? "" : environment;
  const CpuFeatures hidden = present & parse_cpu_features(list);
  return {probe_model(), present & ~hidden, hidden, physical_memory(), unknown_cpu_features(list)};
}

// Call visit(name) for each name in a list separated by spaces or commas.
template <class Visit>
void for_each_name(std::string_view list, Visit&& visit) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(" ,"), list.size());
    if (end > 0) visit(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

CpuFeatures features_named(std::string_view name) {
  CpuFeatures features = 0;
  for (const auto& [feature, feature_name] : kFeatureNames) {
    if (name == feature_name || name == "all") features |= bit(feature);
  }
  return features;
}

}  // namespace

CpuFeatures probe_cpu_features() {
#ifdef MANYMOD_HAVE_CPUID
  return probe_x86();
#else
  return 0;
#endif
}

CpuFeatures parse_cpu_features(std::string_view list) {
  CpuFeatures features = 0;
  for_each_name(list, [&](std::string_view name) { features |= features_named(name); });
  return features;
}

std::string unknown_cpu_features(std::string_view list) {
  std::string unknown;
  for_each_name(list, [&](std::string_view name) {
    if (features_named(name) != 0) return;
    if (!unknown.empty()) unknown += ' ';
    for (const char c : name) unknown += c > ' ' && c <= '~' ? c : '?';
  });
  return unknown;
}

std::string cpu_feature_names(CpuFeatures features) {
  std::string names;
  for (const auto& [feature, name] : kFeatureNames) {
    if ((features & bit(feature)) == 0) continue;
    if (!names.empty()) names += ' ';
    names += name;
  }
  return names;
}

const CpuInfo& cpu_info() {
  static constinit PublishedForever<CpuInfo> info;
  return *info.get([] { return std::make_unique<const CpuInfo>(probe()); });
}

unsigned usable_cpu_count() {
#if defined(__linux__)
  // The kernel rejects a mask shorter than its own, and machines with more than 1024 CPUs exist: try longer
  // ones.
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 4) {
    cpu_set_t* mask = CPU_ALLOC(static_cast<std::size_t>(cpus));
    if (mask == nullptr) break;
    const std::size_t size = CPU_ALLOC_SIZE(static_cast<std::size_t>(cpus));
    const bool known = sched_getaffinity(0, size, mask) == 0;
    const int count = known ? CPU_COUNT_S(size, mask) : 0;
    CPU_FREE(mask);
    if (count > 0) return static_cast<unsigned>(count);
  }
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace manymod
