// SPDX-License-Identifier: Apache-2.0
#include "support/lane_field_calls.hpp"

#include <algorithm>
#include <deque>

namespace manymod::test {

#if MANYMOD_X86_64
namespace {

/// 2^exponent + offset.
struct RuntimePrime {
  const char* name;
  std::size_t digits;  ///< of the field that computes modulo it
  unsigned exponent;
  int offset;
};

/// The longest primes of fields that expand products where they are called and of others; one just above a
/// power of two; the smallest one, which is its own unit in estimates of quotients; and one that is shorter
/// than its field.
constexpr RuntimePrime kDigits52[kRuntimePrimes] = {{"longest_of_3", 3, 152, -17},
                                                    {"longest_of_5", 5, 256, -189},
                                                    {"longest_of_13", 13, 672, -399},
                                                    {"above_power_of_2", 3, 151, 45},
                                                    {"three", 3, 1, 1},
                                                    {"shorter", 3, 127, -1}};
constexpr RuntimePrime kDigits29[kRuntimePrimes] = {{"longest_of_6", 6, 170, -143},
                                                    {"longest_of_9", 9, 257, -93},
                                                    {"longest_of_14", 14, 402, -53},
                                                    {"above_power_of_2", 6, 169, 147},
                                                    {"three", 6, 1, 1},
                                                    {"shorter", 6, 127, -1}};

std::vector<Limb> limbs_of(const RuntimePrime& prime) {
  std::vector<Limb> p(prime.exponent / kLimbBits + 1);
  p[prime.exponent / kLimbBits] = Limb{1} << prime.exponent % kLimbBits;
  if (prime.offset >= 0) {
    p[0] += static_cast<Limb>(prime.offset);
  } else {
    Limb borrow = static_cast<Limb>(-prime.offset);
    for (Limb& limb : p) {
      const Limb before = limb;
      limb -= borrow;
      borrow = limb > before ? 1 : 0;
    }
  }
  while (p.back() == 0) p.pop_back();
  return p;
}

/// A prime and its constants, which the entries of a field refer to.
struct RuntimeModulus {
  std::vector<Limb> p;
  montgomery_lanes::Constants constants;
};

LaneFieldCalls runtime_field(std::span<const LaneFieldCalls> fields, const RuntimePrime& prime) {
  // Not a list, whose nodes libstdc++ links in code that MemorySanitizer does not know.
  static std::deque<RuntimeModulus> moduli;
  LaneFieldCalls calls = *std::ranges::find(fields, prime.digits, &LaneFieldCalls::digits);
  moduli.push_back({limbs_of(prime), {}});
  RuntimeModulus& modulus = moduli.back();
  modulus.constants = montgomery_lanes::make_constants(modulus.p, calls.digits, calls.digit_bits);
  calls.modulus = &modulus.constants;
  calls.prime = prime.name;
  calls.p = modulus.p;
  calls.bits = modulus.constants.bits;
  return calls;
}

LaneFieldBackend backend(const char* name, CpuFeatures needs, const LaneFieldTables& tables) {
  LaneFieldBackend r{name, needs, {tables.special.begin(), tables.special.end()}, tables.left_out};
  for (const RuntimePrime& prime : tables.runtime.front().digit_bits == 52 ? kDigits52 : kDigits29) {
    r.fields.push_back(runtime_field(tables.runtime, prime));
  }
  return r;
}

}  // namespace

const LaneFieldTables& left_out_lane_fields() {
  static const LaneFieldTables tables{avx2_lane_fields().special, avx2_lane_fields().runtime, true};
  return tables;
}
#endif

std::span<const LaneFieldBackend> lane_field_backends() {
#if MANYMOD_X86_64
  constexpr CpuFeatures kAvx2 = CpuFeature::bmi2 | CpuFeature::avx2 | CpuFeature::fma;
  constexpr CpuFeatures kAvx512 = CpuFeature::bmi2 | CpuFeature::avx512f | CpuFeature::avx512dq |
                                  CpuFeature::avx512bw | CpuFeature::avx512vl;
  static const LaneFieldBackend backends[] = {
      backend("avx512ifma", kAvx512 | CpuFeature::avx512ifma, avx512ifma_lane_fields()),
      backend("avx512f", kAvx512, avx512f_lane_fields()),
      backend("avx2", kAvx2, avx2_lane_fields()),
  };
  return backends;
#else
  return {};
#endif
}

}  // namespace manymod::test
