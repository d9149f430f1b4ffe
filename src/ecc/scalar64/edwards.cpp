// SPDX-License-Identifier: Apache-2.0
#include "ecc/scalar64/edwards.hpp"

#include "ecc/scalar64/group_engine.hpp"
#include "ecc/scalar64/limb_counts.hpp"

namespace manymod::ecc::scalar64 {

std::unique_ptr<const PointEngine> make_edwards(const Curve& curve) {
  return with_limb_count(curve.limbs(), [&]<std::size_t kLimbs> {
    return make_engine<GroupEngine<EdwardsGroup<kLimbs>>>(curve);
  });
}

}  // namespace manymod::ecc::scalar64
