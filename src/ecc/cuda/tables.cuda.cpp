// SPDX-License-Identifier: Apache-2.0
#include "ecc/cuda/tables.cuda.hpp"

#include <memory>

#include "ecc/device/engine.hpp"
#include "repr/limbs.hpp"

namespace manymod::ecc::cuda {

device::AnsweredPoints odd_multiples_of_generator(const Curve& curve) {
  const std::size_t windows = window_count(static_cast<unsigned>(curve.order_bits), kBaseWindow);
  const std::size_t size = curve.scalar_limbs(), row = windows * curve.limbs();
  std::vector<Limb> first, doubled, power(size);
  power[0] = 1;
  for (std::size_t window = 0; window < windows; ++window) {
    first.insert(first.end(), power.begin(), power.end());
    limbs::add_mod(power, power, power, curve.n);
    doubled.insert(doubled.end(), power.begin(), power.end());
    for (unsigned i = 1; i < kBaseWindow; ++i) limbs::add_mod(power, power, power, curve.n);
  }
  const std::unique_ptr<const PointEngine> host = device::make_host(curve);
  device::AnsweredPoints all(curve, windows * kBaseEntries), steps(curve, windows);
  const ItemRange items{0, windows};
  host->multiply_base(all.results(), {first.data(), size}, items, TimingClass::public_, {});
  host->multiply_base(steps.results(), {doubled.data(), size}, items, TimingClass::public_, {});
  const PointRows step{{steps.x.data(), curve.limbs()}, {steps.y.data(), curve.limbs()}};
  for (std::size_t i = 1; i < kBaseEntries; ++i) {
    const std::size_t before = (i - 1) * row;
    const PointRows last{{all.x.data() + before, curve.limbs()}, {all.y.data() + before, curve.limbs()}};
    host->add({all.x.data() + i * row, all.y.data() + i * row, all.flags.data() + i * windows}, last, step,
              items);
  }
  return all;
}

}  // namespace manymod::ecc::cuda
