// SPDX-License-Identifier: Apache-2.0
// Verification of EdDSA under the policies of docs/ecc.md, and one verdict for many signatures. Variable-time
// in everything.
//
// Without the cofactor in the equation, the encoding of S B - k A must be the bytes of R. A canonical
// encoding belongs to exactly one point, so that the same can be tested on points: the bytes of R are the
// canonical encoding of a point, and this point is S B - k A. That is what engines with a fast comparison
// (ecc/sum_comparison.hpp) compute.
//
// One verdict for many signatures is only given by the equation with the cofactor: without it, terms of
// small order of several wrong signatures could cancel each other.
#include <algorithm>
#include <bit>

#include "ecc/schemes/eddsa_combination.hpp"
#include "ecc/schemes/eddsa_parts.hpp"
#include "ecc/sum_comparison.hpp"
#include "repr/limbs.hpp"

namespace manymod::ecc::eddsa {
namespace {

/// Signatures of one combined check; longer sums cost less per term.
constexpr std::size_t kSumBatch = 4096;

class Verification final : public Scheme {
 public:
  Verification(mm_ecc_op op, const PointEngine& engine, const Inputs& inputs, const Outputs& outputs)
      : one_verdict_(op == MM_ECC_VERIFY_ALL),
        engine_(engine),
        comparison_(engine.comparison()),
        inputs_(inputs),
        outputs_(outputs),
        instance_(instance_of(engine.curve())),
        order_(Order::of(engine.curve())),
        small_orders_(engine.curve()),
        batch_(std::max(one_verdict_ ? kSumBatch : kBatch, engine.granularity())) {}

  [[nodiscard]] double item_ns() const override {
    const double lift = engine_.item_ns(PointOperation::lift);
    const double equation = engine_.item_ns(PointOperation::multiply_two);
    if (is_on_gpu(engine_)) return equation + kHostOfGpuNs;
    if (one_verdict_) return equation / 2 + 2 * lift + kHashNs;
    if (comparison_ != nullptr) return comparison_->item_ns() + 2 * lift + kHashNs;
    return equation + (is_zip215() ? 2 : 1) * lift + kHashNs;
  }

  void compute(std::span<const std::size_t> items, const StopToken& stop) const override;

 private:
  class Batch;

  bool one_verdict_;
  const PointEngine& engine_;
  const SumComparison* comparison_;
  const Inputs& inputs_;
  Outputs outputs_;
  const Instance& instance_;
  const std::unique_ptr<const Order> order_;
  SmallOrders small_orders_;
  std::size_t batch_;

  [[nodiscard]] bool is_zip215() const { return inputs_.policy == MM_ECC_ZIP215; }
  /// Whether R is read as a point.
  [[nodiscard]] bool reads_commitments() const { return is_zip215() || comparison_ != nullptr; }
};

/// The items of one batch, on one thread. Rows that are not valid have neutral points and scalars of 0.
class Verification::Batch {
 public:
  Batch(const Verification& scheme, std::size_t rows)
      : s_(scheme),
        hash_(scheme.instance_),
        limbs_(scheme.order_->limbs()),
        width_(scheme.engine_.curve().limbs()),
        reading_(scheme.is_zip215() ? EdwardsReading::any : EdwardsReading::canonical),
        keys_(scheme.engine_, reading_, rows),
        commitments_(scheme.engine_, reading_, scheme.reads_commitments() ? rows : 0),
        responses_(rows * limbs_),
        challenges_(rows * limbs_),
        signatures_(rows * scheme.instance_.size),
        key_bytes_(signatures_.size()),
        status_(rows),
        x_(rows * width_),
        y_(rows * width_) {}

  void run(std::span<const std::size_t> items, const StopToken& stop) {
    items_ = items;
    for (std::size_t row = 0; row < items.size(); ++row) take(row);
    keys_.lift(items.size());
    if (s_.reads_commitments()) commitments_.lift(items.size());
    for (std::size_t row = 0; row < items.size(); ++row) settle_points(row);
    if (stop.requested_now()) return;
    if (s_.one_verdict_) return run_sum(stop);
    run_each(stop);
  }

 private:
  const Verification& s_;
  Hash hash_;
  std::size_t limbs_, width_;
  EdwardsReading reading_;
  EdwardsPoints keys_, commitments_;
  std::vector<Limb> responses_, challenges_;          ///< S and k
  std::vector<std::uint8_t> signatures_, key_bytes_;  ///< R and A as they were given
  std::vector<mm_status> status_;
  std::vector<Limb> x_, y_;
  std::span<const std::size_t> items_;
  Digest digest_{};

  [[nodiscard]] const std::uint8_t* commitment(std::size_t row) const {
    return &signatures_[row * s_.instance_.size];
  }
  [[nodiscard]] const std::uint8_t* key(std::size_t row) const {
    return &key_bytes_[row * s_.instance_.size];
  }

  void reject(std::size_t row, mm_status status) {
    status_[row] = status;
    keys_.clear(row);
    if (s_.reads_commitments()) commitments_.clear(row);
    clear_scalars(row);
  }
  void clear_scalars(std::size_t row) {
    std::fill_n(&responses_[row * limbs_], limbs_, Limb{0});
    std::fill_n(&challenges_[row * limbs_], limbs_, Limb{0});
  }

  /// Copy and parse an item, and hash it.
  void take(std::size_t row) {
    const std::size_t size = s_.instance_.size, item = items_[row];
    status_[row] = MM_OK;
    const ByteSpan key_given = (*s_.inputs_.point)[item], signature = (*s_.inputs_.signature)[item];
    const Text text = text_of(s_.inputs_, item);
    if (key_given.size() != size) return reject(row, MM_ITEM_ECC_POINT);
    if (text.status != MM_OK) return reject(row, text.status);
    if (signature.size() != 2 * size) return reject(row, MM_ITEM_ECC_SIGNATURE);
    std::copy_n(key_given.data(), size, &key_bytes_[row * size]);
    std::copy_n(signature.data(), size, &signatures_[row * size]);
    keys_.read(row, {key(row), size});
    if (s_.reads_commitments()) commitments_.read(row, {commitment(row), size});
    if (!take_response(row, signature.subspan(size))) return reject(row, MM_ITEM_ECC_SIGNATURE);
    const Domain domain(s_.instance_, s_.inputs_.prehashed, text.context);
    const ByteSpan digest =
        hash_.digest(digest_, {domain.bytes(), {commitment(row), size}, {key(row), size}, text.message});
    reduce(*s_.order_, &challenges_[row * limbs_], digest);
  }

  /// S, which must be below n.
  bool take_response(std::size_t row, ByteSpan bytes) {
    std::array<std::uint8_t, kMaxSize> copy;
    std::ranges::copy(bytes, copy.begin());
    std::array<Limb, limbs_for_bits(8 * kMaxSize)> number;
    limbs_from_little_endian(number, ByteSpan(copy).first(bytes.size()));
    if (!limbs::less_var(number, s_.order_->n())) return false;
    std::copy_n(number.begin(), limbs_, &responses_[row * limbs_]);
    return true;
  }

  void settle_points(std::size_t row) {
    if (status_[row] != MM_OK) return;
    if (!keys_.valid(row)) return reject(row, MM_ITEM_ECC_POINT);
    if (s_.is_zip215() && !commitments_.valid(row)) return reject(row, MM_ITEM_ECC_SIGNATURE);
    const bool small = s_.inputs_.policy == MM_ECC_STRICT && s_.small_orders_.contains(keys_.y(row));
    if (small) reject(row, MM_ITEM_ECC_POINT);
  }

  void finish(std::size_t row, bool valid) {
    s_.outputs_.ok[items_[row]] = status_[row] == MM_OK && valid ? 1 : 0;
    s_.outputs_.status[items_[row]] = static_cast<std::uint8_t>(status_[row]);
  }

  /// S B + k (-A), not S B + (n - k) A: n A is infinity only if A has no part of small order.
  void run_each(const StopToken& stop) {
    const std::size_t count = items_.size();
    keys_.negate(count);
    if (s_.comparison_ != nullptr) return compare_each(stop);
    s_.engine_.multiply_two({x_.data(), y_.data(), nullptr}, {responses_.data(), limbs_},
                            {challenges_.data(), limbs_}, keys_.rows(), {0, count}, stop);
    if (stop.was_requested()) return;
    if (s_.is_zip215()) {
      // The difference to R may be any of small order.
      commitments_.negate(count);
      std::vector<Limb> x(x_.size()), y(y_.size());
      s_.engine_.add({x.data(), y.data(), nullptr}, {{x_.data(), width_}, {y_.data(), width_}},
                     commitments_.rows(), {0, count});
      for (std::size_t row = 0; row < count; ++row) {
        finish(row, s_.small_orders_.contains(&y[row * width_]));
      }
      return;
    }
    for (std::size_t row = 0; row < count; ++row) finish(row, has_commitment(row));
  }

  void compare_each(const StopToken& stop) {
    const std::size_t count = items_.size();
    const auto cofactor_bits = static_cast<unsigned>(std::countr_zero(s_.instance_.cofactor));
    std::vector<std::uint8_t> equal(count);
    s_.comparison_->compare(equal.data(), {responses_.data(), limbs_}, {challenges_.data(), limbs_},
                            keys_.rows(), commitments_.rows(), s_.is_zip215() ? cofactor_bits : 0, {0, count},
                            stop);
    if (stop.was_requested()) return;
    for (std::size_t row = 0; row < count; ++row) finish(row, equal[row] != 0 && accepts_commitment(row));
  }
  /// Strict: a point that is not of small order.
  [[nodiscard]] bool accepts_commitment(std::size_t row) {
    const bool small = s_.inputs_.policy == MM_ECC_STRICT && s_.small_orders_.contains(commitments_.y(row));
    return commitments_.valid(row) && !small;
  }

  /// Whether the point of the equation encodes to R; strict: and is not of small order.
  [[nodiscard]] bool has_commitment(std::size_t row) const {
    const Limb* const y = &y_[row * width_];
    if (s_.inputs_.policy == MM_ECC_STRICT && s_.small_orders_.contains(y)) return false;
    std::array<std::uint8_t, kMaxSize> bytes;
    const std::span<std::uint8_t> encoded = std::span(bytes).first(s_.instance_.size);
    write_edwards_point(s_.engine_.curve(), encoded, &x_[row * width_], y);
    return std::ranges::equal(encoded, ByteSpan(commitment(row), s_.instance_.size));
  }

  /// One verdict, which all items get.
  void run_sum(const StopToken& stop) {
    const std::size_t count = items_.size();
    const bool readable = std::ranges::all_of(std::span(status_).first(count),
                                              [](mm_status status) { return status == MM_OK; });
    const bool valid = readable && sum_is_small(stop);
    if (stop.was_requested()) return;
    for (std::size_t row = 0; row < count; ++row) finish(row, valid);
  }

  [[nodiscard]] bool sum_is_small(const StopToken& stop) {
    const std::size_t count = items_.size(), size = s_.instance_.size;
    Combination combination(s_.engine_, *s_.order_, count);
    for (std::size_t row = 0; row < count; ++row) {
      const bool again = row > 0 && std::equal(key(row), key(row) + size, key(row - 1));
      if (!again) combination.begin_key(keys_.x(row), keys_.y(row));
      combination.add(commitments_.x(row), commitments_.y(row), &responses_[row * limbs_],
                      &challenges_[row * limbs_]);
    }
    combination.sum(x_.data(), y_.data(), stop);
    return s_.small_orders_.contains(y_.data());
  }
};

void Verification::compute(std::span<const std::size_t> items, const StopToken& stop) const {
  Batch batch(*this, std::min(items.size(), batch_));
  while (!items.empty() && !stop.requested_now()) {
    const std::size_t count = std::min(items.size(), batch_);
    batch.run(items.first(count), stop);
    items = items.subspan(count);
  }
}

}  // namespace

std::unique_ptr<Scheme> make_verification(mm_ecc_op op, const PointEngine& engine, const Inputs& inputs,
                                          const Outputs& outputs) {
  return std::make_unique<Verification>(op, engine, inputs, outputs);
}

}  // namespace manymod::ecc::eddsa
