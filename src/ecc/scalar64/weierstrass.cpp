// SPDX-License-Identifier: Apache-2.0
#include "ecc/scalar64/weierstrass.hpp"

#include "ecc/scalar64/group_engine.hpp"
#include "ecc/scalar64/limb_counts.hpp"

namespace manymod::ecc::scalar64 {

std::unique_ptr<const PointEngine> make_weierstrass(const Curve& curve) {
  return with_limb_count(curve.limbs(), [&]<std::size_t kLimbs> {
    return make_engine<GroupEngine<WeierstrassGroup<kLimbs>>>(curve);
  });
}

}  // namespace manymod::ecc::scalar64
