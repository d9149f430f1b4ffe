// SPDX-License-Identifier: Apache-2.0
#include "modmul/vcpc512/variants.hpp"

#include "lanes/engine.hpp"
#include "modmul/vcpc512/kernels.hpp"

namespace manymod::vcpc512 {

void register_variants([[maybe_unused]] std::vector<Variant>& variants) {
#if MANYMOD_X86_64
  Variant row = lanes::make_variant("vcpc512", "avx512f", avx512f_kernels(),
                                    CpuFeature::bmi2 | CpuFeature::avx512f | CpuFeature::avx512dq |
                                        CpuFeature::avx512bw | CpuFeature::avx512vl);
  row.priority = 1;
  row.summary = "vector carry propagation chains, one instance across 512-bit vectors";
  row.make_engine = [](unsigned) { return lanes::make_engine(avx512f_kernels()); };
  variants.push_back(std::move(row));
#endif
}

}  // namespace manymod::vcpc512
