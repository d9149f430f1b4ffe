// SPDX-License-Identifier: Apache-2.0
#include "ecc/schemes/xdh.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "crypto/hash.hpp"
#include "ecc/schemes/edwards_encoding.hpp"
#include "repr/limbs.hpp"
#include "repr/wipe.hpp"

namespace manymod::ecc {
namespace {

constexpr std::size_t kBatch = 256;
constexpr std::size_t kMaxBytes = 56;

class Xdh final : public Scheme {
 public:
  Xdh(mm_ecc_op op, const PointEngine& engine, const Inputs& inputs, const Outputs& outputs)
      : exchanges_(op == MM_ECC_EXCHANGE),
        engine_(engine),
        curve_(engine.curve()),
        inputs_(inputs),
        outputs_(outputs),
        batch_(std::max(kBatch, engine.granularity())) {}

  [[nodiscard]] double item_ns() const override { return engine_.item_ns(PointOperation::ladder); }

  void compute(std::span<const std::size_t> items, const StopToken& stop) const override {
    Batch batch(*this);
    while (!items.empty() && !stop.requested_now()) {
      items = items.subspan(batch.take(items));
      batch.run(stop);
    }
  }

 private:
  bool exchanges_;
  const PointEngine& engine_;
  const Curve& curve_;
  const Inputs& inputs_;
  Outputs outputs_;
  std::size_t batch_;

  void set_status(std::size_t item, mm_status status) const {
    outputs_.status[item] = static_cast<std::uint8_t>(status);
  }

  /// The items of one batch, on one thread.
  class Batch {
   public:
    explicit Batch(const Xdh& scheme)
        : s_(scheme),
          limbs_(scheme.curve_.limbs()),
          bytes_(scheme.curve_.coordinate_bytes()),
          scalars_(scheme.batch_ * limbs_),
          results_(scheme.batch_ * limbs_),
          u_(scheme.exchanges_ ? scheme.batch_ * limbs_ : 0) {
      items_.reserve(scheme.batch_);
      if (scheme.exchanges_ && scheme.inputs_.hash != MM_HASH_NONE) hasher_.emplace(scheme.inputs_.hash);
    }

    std::size_t take(std::span<const std::size_t> items) {
      items_.clear();
      std::size_t taken = 0;
      while (taken < items.size() && items_.size() < s_.batch_) take_item(items[taken++]);
      return taken;
    }

    void run(const StopToken& stop) {
      if (items_.empty()) return;
      const NumberRows base{s_.curve_.x.data(), 0}, given{u_.data(), limbs_};
      s_.engine_.ladder(results_.data(), {scalars_.data(), limbs_}, s_.exchanges_ ? given : base,
                        static_cast<unsigned>(s_.curve_.field_bits), {0, items_.size()}, stop);
      if (stop.was_requested()) return;
      for (std::size_t row = 0; row < items_.size(); ++row) write_result(row);
    }

   private:
    const Xdh& s_;
    std::size_t limbs_, bytes_;
    std::vector<std::size_t> items_;
    SecretArray<Limb> scalars_, results_;
    std::vector<Limb> u_;
    std::optional<crypto::Hasher> hasher_;

    void take_item(std::size_t item) {
      const ByteSpan secret = (*s_.inputs_.secret)[item];
      if (secret.size() != bytes_) return s_.set_status(item, MM_ITEM_ECC_SECRET);
      if (s_.exchanges_) {
        const ByteSpan point = (*s_.inputs_.point)[item];
        if (point.size() != bytes_) return s_.set_status(item, MM_ITEM_ECC_POINT);
        read_u(&u_[items_.size() * limbs_], point);
      }
      clamp(&scalars_[items_.size() * limbs_], secret);
      items_.push_back(item);
    }

    /// A multiple of the cofactor with bit field_bits - 1 set and none above.
    void clamp(Limb* scalar, ByteSpan secret) const {
      limbs_from_little_endian({scalar, limbs_}, secret);
      const std::size_t top = s_.curve_.field_bits - 1;
      scalar[0] &= ~(s_.curve_.cofactor[0] - 1);
      limbs::truncate_bits({scalar, limbs_}, top);
      scalar[top / kLimbBits] |= Limb{1} << top % kLimbBits;
    }
    /// u mod p: below 2^field_bits < 2 p.
    void read_u(Limb* u, ByteSpan bytes) const {
      limbs_from_little_endian({u, limbs_}, bytes);
      limbs::truncate_bits({u, limbs_}, s_.curve_.field_bits);
      limbs::reduce_once({u, limbs_}, s_.curve_.p);
    }

    /// small_order = true for a result of 0, which is public. Not inlined, because the secret-independence
    /// tests suppress findings in this function by its name.
    [[gnu::noinline]] void note_small_order(std::size_t row, bool& small_order) const {
      if (limbs::is_zero({&results_[row * limbs_], limbs_}) == 1) small_order = s_.exchanges_;
    }

    void write_result(std::size_t row) {
      const std::span<const Limb> u(&results_[row * limbs_], limbs_);
      const std::size_t item = items_[row];
      bool small_order = false;
      note_small_order(row, small_order);
      if (small_order) return s_.set_status(item, MM_ITEM_ECC_SMALL_ORDER);
      if (hasher_) {
        std::array<std::uint8_t, kMaxBytes> secret;
        const std::span<std::uint8_t> used = std::span(secret).first(bytes_);
        little_endian_from_limbs(used, u);
        hasher_->digest(s_.outputs_.result(item, hasher_->size()), {used});
        wipe_bytes(secret.data(), secret.size());
      } else {
        little_endian_from_limbs(s_.outputs_.result(item, bytes_), u);
      }
      s_.set_status(item, MM_OK);
    }
  };
};

}  // namespace

std::unique_ptr<Scheme> make_xdh(mm_ecc_op op, const PointEngine& engine, const Inputs& inputs,
                                 const Outputs& outputs) {
  return std::make_unique<Xdh>(op, engine, inputs, outputs);
}

}  // namespace manymod::ecc
