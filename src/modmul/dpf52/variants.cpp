// SPDX-License-Identifier: Apache-2.0
#include "modmul/dpf52/variants.hpp"

#include "lanes/engine.hpp"
#include "modmul/dpf52/kernels.hpp"

namespace manymod::dpf52 {

void register_variants([[maybe_unused]] std::vector<Variant>& variants) {
#if MANYMOD_X86_64
  Variant wide = lanes::make_variant("dpf52", "avx512f", avx512f_kernels().lanes,
                                     CpuFeature::bmi2 | CpuFeature::avx512f | CpuFeature::avx512dq |
                                         CpuFeature::avx512bw | CpuFeature::avx512vl);
  wide.priority = 2;
  wide.summary = "52-bit digits in doubles, exact by rounding toward zero; eight instances side by side";
  wide.make_engine = [](unsigned) { return lanes::make_engine(avx512f_kernels().lanes); };
  variants.push_back(std::move(wide));
  Variant narrow = lanes::make_variant("dpf52", "avx2", avx2_kernels().lanes,
                                       CpuFeature::bmi2 | CpuFeature::avx2 | CpuFeature::fma);
  narrow.priority = 1;
  narrow.summary = "52-bit digits in doubles, exact by rounding toward zero; four instances side by side";
  narrow.make_engine = [](unsigned) { return lanes::make_engine(avx2_kernels().lanes); };
  variants.push_back(std::move(narrow));
#endif
}

}  // namespace manymod::dpf52
