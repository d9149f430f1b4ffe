// SPDX-License-Identifier: Apache-2.0
#include "modmul/radix29/variants.hpp"

#include "lanes/engine.hpp"
#include "modmul/radix29/kernels.hpp"

namespace manymod::radix29 {

void register_variants([[maybe_unused]] std::vector<Variant>& variants) {
#if MANYMOD_X86_64
  Variant wide = lanes::make_variant("radix29", "avx512f", avx512f_kernels(),
                                     CpuFeature::bmi2 | CpuFeature::avx512f | CpuFeature::avx512dq |
                                         CpuFeature::avx512bw | CpuFeature::avx512vl);
  wide.priority = 4;
  wide.summary = "29-bit digits by vpmuludq, eight instances side by side";
  wide.make_engine = [](unsigned) { return lanes::make_engine(avx512f_kernels()); };
  variants.push_back(std::move(wide));
  Variant narrow = lanes::make_variant("radix29", "avx2", avx2_kernels(),
                                       CpuFeature::bmi2 | CpuFeature::avx2 | CpuFeature::fma);
  narrow.priority = 3;
  narrow.summary = "29-bit digits by vpmuludq, four instances side by side";
  narrow.make_engine = [](unsigned) { return lanes::make_engine(avx2_kernels()); };
  variants.push_back(std::move(narrow));
#endif
}

}  // namespace manymod::radix29
