// SPDX-License-Identifier: Apache-2.0
#include "lanes/group.hpp"

#include <algorithm>

#include "engine/store.hpp"

namespace manymod::lanes {

std::size_t vectors_for(const Kernels& kernels, std::size_t limbs) {
  return kernels.digits_for(limbs * kLimbBits) <= kernels.paired_digits ? 2 : 1;
}

PreparedLanes::PreparedLanes(const Kernels& kernels, std::span<const Limb> modulus) : moduli_(kernels) {
  std::array<std::span<const Limb>, kMaxLanes> same;
  same.fill(modulus);
  limbs::Buffer scratch;
  moduli_.assign(std::span(same).first(kernels.lanes), kernels.digits_for(limbs::bit_length_var(modulus)),
                 scratch);
}

const Moduli* shared_moduli(const Job& job) {
  return job.shared != nullptr ? &static_cast<const PreparedLanes*>(job.shared)->moduli() : nullptr;
}

Group::Group(const Kernels& kernels, const Job& job, std::size_t limbs, const Moduli* shared)
    : kernels_(kernels), job_(job), limbs_(limbs), shared_(shared), vectors_(vectors_for(kernels, limbs)) {
  own_.reserve(vectors_);
  for (std::size_t v = 0; v < vectors_; ++v) {
    moduli_[v] = shared != nullptr ? shared : &own_.emplace_back(kernels);
  }
  residue_.require(limbs);
}

void Group::find_operands(const BatchView& operand) {
  for (std::size_t lane = 0; lane < lanes(); ++lane) {
    operands_[lane] = operand.magnitude(item(lane));
    negative_[lane] = operand.is_negative(item(lane));
  }
}

void Group::assign(Items items) {
  items_ = items;
  count_ = items.size();
  if (shared_ == nullptr) {
    // What is measured and computed with are copies, as others may write to the caller's moduli meanwhile.
    std::size_t bits = (limbs_ - 1) * kLimbBits + 1;
    moduli_copies_.require(lanes() * limbs_);
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      const std::span<const Limb> modulus = job_.modulus.magnitude(item(lane)).first(limbs_);
      std::copy(modulus.begin(), modulus.end(), moduli_copies_.part(lane * limbs_, limbs_).begin());
      operands_[lane] = moduli_copies_.part(lane * limbs_, limbs_);
      bits = std::max(bits, limbs::bit_length_var(operands_[lane]));
    }
    for (std::size_t v = 0; v < used_moduli().size(); ++v) {
      own_[v].assign(std::span(operands_).subspan(v * kernels_.lanes, kernels_.lanes),
                     kernels_.digits_for(bits), scratch_);
    }
  }
  std::size_t scratch = 0;
  for (const Moduli* moduli : used_moduli()) scratch = std::max(scratch, moduli->scratch_words());
  scratch_.require(scratch);
}

void Group::load_montgomery(Limb* r, const BatchView& operand) {
  find_operands(operand);
  for_each_vector([&](const Moduli& n, std::size_t lane, std::size_t at) {
    n.to_montgomery(r + at, std::span(operands_).subspan(lane, kernels_.lanes),
                    std::span(negative_).subspan(lane, kernels_.lanes), scratch_.data(), job_.stop);
  });
}

bool Group::fits(const BatchView& operand) const {
  return operand.width * kLimbBits <= moduli_[0]->digits() * kernels_.digit_bits;
}

void Group::load_plain(Limb* r, const BatchView& operand) {
  find_operands(operand);
  for_each_vector([&](const Moduli& n, std::size_t lane, std::size_t at) {
    n.import_digits(r + at, std::span(operands_).subspan(lane, kernels_.lanes), scratch_.data());
  });
}

void Group::load_residues(Limb* r, const BatchView& operand) {
  bool below = job_.timing == TimingClass::public_ && operand.negative == nullptr && fits(operand);
  for (std::size_t lane = 0; below && lane < count_; ++lane) {
    below = limbs::less_var(operand.magnitude(item(lane)), job_.modulus.magnitude(item(lane)));
  }
  if (below) return load_plain(r, operand);
  if (operand.negative == nullptr && fits(operand)) {
    // One product instead of two: for x < R, (x (R mod n) + q n) / R < 2 n.
    load_plain(r, operand);
    for_each_vector([&](const Moduli& n, std::size_t, std::size_t at) {
      n.mul(r + at, r + at, n.one(), scratch_.data());
      n.reduce(r + at, r + at);
    });
    return;
  }
  load_montgomery(r, operand);
  from_montgomery(r, r);
}

void Group::add(Limb* r, const Limb* a, const Limb* b) {
  for_each_vector([&](const Moduli& n, std::size_t, std::size_t at) { n.add(r + at, a + at, b + at); });
}

void Group::from_montgomery(Limb* r, const Limb* a) {
  for_each_vector([&](const Moduli& n, std::size_t, std::size_t at) {
    n.from_montgomery(r + at, a + at, scratch_.data());
  });
}

void Group::reduce(Limb* r, const Limb* a) {
  for_each_vector([&](const Moduli& n, std::size_t, std::size_t at) { n.reduce(r + at, a + at); });
}

void Group::store(const Limb* a) {
  const std::span<Limb> residue = residue_.first(limbs_);
  for_each_vector([&](const Moduli& n, std::size_t first_lane, std::size_t at) {
    const Limb* limbs = scratch_.data();
    n.export_limbs(scratch_.data(), limbs_, a + at);
    for (std::size_t lane = 0; lane < kernels_.lanes && first_lane + lane < count_; ++lane) {
      const std::size_t index = items_[first_lane + lane];
      for (std::size_t i = 0; i < limbs_; ++i) residue[i] = limbs[i * kernels_.lanes + lane];
      store_result(job_, index, residue, job_.modulus.magnitude(index).first(limbs_));
      job_.status[index] = ItemStatus::ok;
    }
  });
}

}  // namespace manymod::lanes
