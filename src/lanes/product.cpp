// SPDX-License-Identifier: Apache-2.0
// x y mod n, x^2 mod n and x y + z mod n for odd n.
#include <algorithm>

#include "lanes/group.hpp"
#include "lanes/operations.hpp"

namespace manymod::lanes {

/// One group of lanes after another. Ranges: see Kernels::mul.
void run_product(const BucketRun& run) {
  const Job& job = run.job;
  const BatchView& y = job.op == Operation::sqrmod ? job.x : job.y;
  Group group(run.kernels, job, run.limbs, shared_moduli(job));
  limbs::Buffer factor;
  limbs::Buffer product;
  limbs::Buffer addend;
  for (std::size_t first = 0; first < run.items.size(); first += group.lanes()) {
    if (job.stop.requested()) return;
    group.assign(run.items.subspan(first, std::min(group.lanes(), run.items.size() - first)));
    const Multiplier m = group.multiplier();
    factor.require(m.words());
    product.require(m.words());
    group.load_montgomery(factor.data(), y);
    if (job.x.negative == nullptr && group.fits(job.x)) {
      // Montgomery form of one factor suffices. For x < R and y R mod n < 2 n, (x (y R) + q n) / R < 3 n.
      group.load_plain(product.data(), job.x);
      m.mul(product.data(), product.data(), factor.data());
      group.reduce(product.data(), product.data());
    } else {
      group.load_montgomery(product.data(), job.x);
      m.mul(product.data(), product.data(), factor.data());
      group.from_montgomery(product.data(), product.data());
    }
    if (job.op == Operation::fmamod) {
      addend.require(m.words());
      group.load_residues(addend.data(), job.z);
      group.add(product.data(), product.data(), addend.data());
    }
    if (job.stop.was_requested()) return;
    group.store(product.data());
  }
}

}  // namespace manymod::lanes
