// SPDX-License-Identifier: Apache-2.0
#include "modmul/ifma52/variants.hpp"

#include "lanes/engine.hpp"
#include "modmul/ifma52/kernels.hpp"
#include "modmul/ifma52/row.hpp"

namespace manymod::ifma52 {

#if MANYMOD_X86_64
namespace {

Variant make_variant(const std::string& shape, const lanes::Kernels& kernels) {
  return lanes::make_variant("ifma52", shape, kernels,
                             CpuFeature::bmi2 | CpuFeature::avx512f | CpuFeature::avx512dq |
                                 CpuFeature::avx512bw | CpuFeature::avx512vl | CpuFeature::avx512ifma);
}

}  // namespace
#endif

#if MANYMOD_X86_64
const lanes::Kernels& avx512ifma_kernels() {
  return __builtin_cpu_is("amd") != 0 ? blending_kernels() : storing_kernels();
}
#endif

void register_variants([[maybe_unused]] std::vector<Variant>& variants) {
#if MANYMOD_X86_64
  Variant lanes = make_variant("avx512", avx512ifma_kernels());
  lanes.priority = 5;
  lanes.summary = "52-bit digits by AVX-512 IFMA, eight instances side by side";
  lanes.make_engine = [](unsigned) { return lanes::make_engine(avx512ifma_kernels()); };
  variants.push_back(std::move(lanes));
  Variant row = make_variant("row", row_kernels());
  row.priority = 4;
  row.summary = "52-bit digits by AVX-512 IFMA, one instance across vectors";
  row.make_engine = [](unsigned) { return lanes::make_engine(row_kernels()); };
  variants.push_back(std::move(row));
#endif
}

}  // namespace manymod::ifma52
