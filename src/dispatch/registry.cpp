// SPDX-License-Identifier: Apache-2.0
#include "dispatch/registry.hpp"

#include "modmul/cios32/variants.opencl.hpp"
#include "modmul/cox_rower/variants.cuda.hpp"
#include "modmul/division32/variants.cuda.hpp"
#include "modmul/division32/variants.opencl.hpp"
#include "modmul/division52/variants.hpp"
#include "modmul/dpf52/variants.cuda.hpp"
#include "modmul/dpf52/variants.hpp"
#include "modmul/dpf52/variants.opencl.hpp"
#include "modmul/fios/variants.cuda.hpp"
#include "modmul/ifma52/variants.hpp"
#include "modmul/radix29/variants.hpp"
#include "modmul/reduced_radix/variants.opencl.hpp"
#include "modmul/rns/variants.cuda.hpp"
#include "modmul/rns_float/variants.cuda.hpp"
#include "modmul/rns_float/variants.opencl.hpp"
#include "modmul/row32/variants.cuda.hpp"
#include "modmul/scalar64/variants.hpp"
#include "modmul/two_pass16/variants.cuda.hpp"
#include "modmul/vcpc512/variants.hpp"

namespace manymod {

std::span<const Variant> registry() {
  static const std::vector<Variant> variants = [] {
    std::vector<Variant> rows;
    scalar64::register_variants(rows);
    ifma52::register_variants(rows);
    division52::register_variants(rows);
    vcpc512::register_variants(rows);
    radix29::register_variants(rows);
    dpf52::register_variants(rows);
    division32::register_variants(rows);
    division32::register_opencl_variants(rows);
    for (const std::span<const gpu::Technique> forms :
         {row32::cuda_techniques(), dpf52::cuda_techniques(), two_pass16::cuda_techniques(),
          fios::cuda_techniques(), rns::cuda_techniques(), cox_rower::cuda_techniques(),
          rns_float::cuda_techniques(), reduced_radix::opencl_techniques(), dpf52::opencl_techniques(),
          cios32::opencl_techniques(), rns_float::opencl_techniques()}) {
      gpu::add_variants(forms, rows);
    }
    return rows;
  }();
  return variants;
}

std::string current_variant_name(std::string_view name) {
  constexpr std::string_view kFormer = "radix28.", kCurrent = "radix29.";
  if (!name.starts_with(kFormer)) return std::string(name);
  return std::string(kCurrent) + std::string(name.substr(kFormer.size()));
}

}  // namespace manymod
