// SPDX-License-Identifier: Apache-2.0
#include "modmul/division32/variants.cuda.hpp"

#include "gpu/cuda/backend.hpp"
#include "gpu/cuda/requirements.hpp"
#include "modmul/division32/engine.hpp"
#include "modmul/division32/job.hpp"

namespace manymod::division32 {

void register_variants(std::vector<Variant>& variants) {
  Variant variant;
  variant.name = "division32.cuda";
  variant.technique = "division32";
  variant.backend = Backend::cuda;
  for (const Operation op :
       {Operation::addmod, Operation::submod, Operation::negmod, Operation::mulmod, Operation::sqrmod,
        Operation::fmamod, Operation::summod, Operation::prodmod, Operation::dotmod}) {
    variant.public_operations |= operation_bit(op);
  }
  variant.row_operations = variant.public_operations;
  variant.max_bits = 32 * kMaxWords;
  variant.accepts_every_item = false;  // operands are limited in width, and have no signs
  variant.requirements = cuda::cuda_requirements({});
  variant.priority = 100;
  variant.summary = "element-wise operations on rows: long division by lazy quotient digits";
  variant.make_engine = [](unsigned device_index) { return make_engine(cuda::backend(), device_index); };
  variants.push_back(std::move(variant));
}

}  // namespace manymod::division32
