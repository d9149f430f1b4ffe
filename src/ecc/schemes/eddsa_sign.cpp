// SPDX-License-Identifier: Apache-2.0
// Public keys and signatures (RFC 8032, sections 5.1.5, 5.1.6, 5.2.5 and 5.2.6). Timing: constant-time in
// keys and nonces; sizes, messages and signatures are public.
//
// A public key that a caller gave could make two signatures of one message with one R and different k, which
// reveal the key; so A is always computed from the key. For the same reason a message and a context are
// copied before they are hashed: both hashes must see the same bytes, whatever other threads write. A
// deterministic signature that a fault spoiled reveals the key too: each one is verified before it leaves.
#include <algorithm>
#include <cstring>

#include "ecc/schemes/eddsa_combination.hpp"
#include "ecc/schemes/eddsa_parts.hpp"
#include "repr/limbs.hpp"
#include "repr/wipe.hpp"

namespace manymod::ecc::eddsa {
namespace {

/// Copied messages of a batch take about this many bytes for each item that it has room for, or one message.
constexpr std::size_t kMessageBytes = 1024;

/// Signatures that are checked together: sums gain by more of them.
constexpr std::size_t kCheckedBatch = 1024;

/// Equations that cost about as much as a sum of few items. Fewer, of as many signatures as the engine
/// computes together, are checked one by one.
constexpr std::size_t kSumCost = 4;

/// What signing needs of a private key. prefix is secret, public_key is none.
struct ExpandedKey {
  std::array<std::uint8_t, kMaxSize> prefix;
  std::array<std::uint8_t, kMaxSize> public_key;
};

class Signing final : public Scheme {
 public:
  Signing(mm_ecc_op op, const PointEngine& engine, const Inputs& inputs, const Outputs& outputs)
      : signs_(op == MM_ECC_SIGN),
        engine_(engine),
        inputs_(inputs),
        outputs_(outputs),
        instance_(instance_of(engine.curve())),
        order_(Order::of(engine.curve())),
        batch_(std::max(signs_ && inputs.check ? kCheckedBatch : kBatch, engine.granularity())) {}

  [[nodiscard]] double item_ns() const override {
    const double base = engine_.item_ns(PointOperation::multiply_base) + kHashNs;
    if (!signs_) return base;
    if (is_on_gpu(engine_)) return 2 * base + kHostOfGpuNs;
    return 2 * base + kHashNs + (inputs_.check ? engine_.item_ns(PointOperation::multiply_two) / 4 : 0);
  }

  void compute(std::span<const std::size_t> items, const StopToken& stop) const override;

 private:
  class Batch;

  bool signs_;
  const PointEngine& engine_;
  const Inputs& inputs_;
  Outputs outputs_;
  const Instance& instance_;
  const std::unique_ptr<const Order> order_;
  std::size_t batch_;

  void set_status(std::size_t item, mm_status status) const {
    outputs_.status[item] = static_cast<std::uint8_t>(status);
  }
};

/// The items of one batch, on one thread. Rows of secrets: the scalars of keys, then the nonces of items, one
/// engine call for both.
class Signing::Batch {
 public:
  explicit Batch(const Signing& scheme)
      : s_(scheme),
        hash_(scheme.instance_),
        limbs_(scheme.order_->limbs()),
        coordinate_limbs_(scheme.engine_.curve().limbs()),
        key_scalars_(scheme.batch_ * limbs_),
        keys_(scheme.batch_),
        nonces_(scheme.signs_ ? scheme.batch_ * limbs_ : 0),
        scalars_(2 * scheme.batch_ * limbs_),
        x_(2 * scheme.batch_ * coordinate_limbs_),
        y_(x_.size()),
        signatures_(scheme.signs_ ? scheme.batch_ * 2 * scheme.instance_.size : 0) {
    items_.reserve(scheme.batch_);
  }
  ~Batch() { wipe_bytes(digest_.data(), digest_.size()); }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  /// Take items until the batch is full; returns how many.
  std::size_t take(std::span<const std::size_t> items) {
    items_.clear();
    key_count_ = 0;
    text_.clear();
    std::size_t taken = 0;
    while (taken < items.size() && items_.size() < s_.batch_ && text_.size() < s_.batch_ * kMessageBytes) {
      take_item(items[taken++]);
    }
    return taken;
  }

  void run(const StopToken& stop) {
    if (items_.empty()) return;
    const std::size_t count = key_count_ + (s_.signs_ ? items_.size() : 0);
    std::copy_n(key_scalars_.data(), key_count_ * limbs_, scalars_.data());
    if (s_.signs_) {
      std::copy_n(nonces_.data(), items_.size() * limbs_, scalars_.data() + key_count_ * limbs_);
    }
    s_.engine_.multiply_base({x_.data(), y_.data(), nullptr}, {scalars_.data(), limbs_}, {0, count},
                             TimingClass::secret, stop);
    if (stop.was_requested()) return;
    for (std::size_t key = 0; key < key_count_; ++key) write_point(keys_[key].public_key.data(), key);
    if (s_.signs_) {
      for (std::size_t row = 0; row < items_.size(); ++row) finish_signature(row);
      if (s_.inputs_.check) check(stop);
      if (stop.was_requested()) return;
    }
    for (std::size_t row = 0; row < items_.size(); ++row) write_result(row);
  }

 private:
  struct Item {
    std::size_t item;
    std::size_t key;                ///< of keys_
    std::size_t domain, text, end;  ///< text_[domain .. text) is dom, text_[text .. end) the message
    mm_status status;
  };

  const Signing& s_;
  Hash hash_;
  std::size_t limbs_, coordinate_limbs_;
  std::vector<Item> items_;
  SecretArray<Limb> key_scalars_;
  SecretArray<ExpandedKey> keys_;
  std::size_t key_count_ = 0;
  SecretArray<Limb> nonces_;
  SecretArray<Limb> scalars_;
  std::vector<Limb> x_, y_;  ///< of public keys and of R
  std::vector<std::uint8_t> text_, signatures_;
  std::vector<Limb> challenges_, responses_;
  ByteSpan last_secret_;  ///< the caller's bytes of the last key
  Digest digest_{};

  [[nodiscard]] ByteSpan text(std::size_t begin, std::size_t end) const {
    return ByteSpan(text_).subspan(begin, end - begin);
  }
  void write_point(std::uint8_t* bytes, std::size_t row) {
    write_edwards_point(s_.engine_.curve(), {bytes, s_.instance_.size}, &x_[row * coordinate_limbs_],
                        &y_[row * coordinate_limbs_]);
  }

  void take_item(std::size_t index) {
    const ByteSpan secret = (*s_.inputs_.secret)[index];
    if (secret.size() != s_.instance_.size) return s_.set_status(index, MM_ITEM_ECC_SECRET);
    Item item{index, 0, text_.size(), text_.size(), text_.size(), MM_OK};
    if (s_.signs_) {
      const Text given = text_of(s_.inputs_, index);
      if (given.status != MM_OK) return s_.set_status(index, given.status);
      const Domain domain(s_.instance_, s_.inputs_.prehashed, given.context);
      text_.insert(text_.end(), domain.bytes().begin(), domain.bytes().end());
      item.text = text_.size();
      text_.insert(text_.end(), given.message.begin(), given.message.end());
      item.end = text_.size();
    }
    item.key = key_of(secret);
    items_.push_back(item);
    if (s_.signs_) derive_nonce(items_.size() - 1);
  }

  /// One key for all items is expanded once a batch.
  std::size_t key_of(ByteSpan secret) {
    const bool same = key_count_ > 0 && secret.data() == last_secret_.data();
    if (!same) expand(secret);
    last_secret_ = secret;
    return key_count_ - 1;
  }

  /// The clamped scalar mod n, which has the same multiple of the generator, and the prefix.
  void expand(ByteSpan secret) {
    const std::size_t size = s_.instance_.size;
    hash_.digest(digest_, {secret});
    std::copy_n(digest_.data() + size, size, keys_[key_count_].prefix.data());
    const std::size_t top = s_.engine_.curve().order_bits + 1;
    digest_[0] = static_cast<std::uint8_t>(digest_[0] & ~(s_.instance_.cofactor - 1));
    for (std::size_t bit = top; bit < 8 * size; bit = (bit | 7) + 1) {
      digest_[bit / 8] = static_cast<std::uint8_t>(digest_[bit / 8] & ((1U << bit % 8) - 1));
    }
    digest_[top / 8] = static_cast<std::uint8_t>(digest_[top / 8] | 1U << top % 8);
    reduce(*s_.order_, &key_scalars_[key_count_ * limbs_], ByteSpan(digest_).first(size));
    ++key_count_;
  }

  void derive_nonce(std::size_t row) {
    const Item& item = items_[row];
    const ByteSpan prefix = ByteSpan(keys_[item.key].prefix).first(s_.instance_.size);
    const ByteSpan digest =
        hash_.digest(digest_, {text(item.domain, item.text), prefix, text(item.text, item.end)});
    reduce(*s_.order_, &nonces_[row * limbs_], digest);
  }

  /// S = r + k s mod n.
  void finish_signature(std::size_t row) {
    const Item& item = items_[row];
    const std::size_t size = s_.instance_.size;
    if (challenges_.empty()) {
      challenges_.resize(s_.batch_ * limbs_);
      responses_.resize(s_.batch_ * limbs_);
    }
    std::uint8_t* const signature = &signatures_[row * 2 * size];
    write_point(signature, key_count_ + row);
    const ByteSpan public_key = ByteSpan(keys_[item.key].public_key).first(size);
    const ByteSpan digest = hash_.digest(
        digest_, {text(item.domain, item.text), {signature, size}, public_key, text(item.text, item.end)});
    Limb* const k = &challenges_[row * limbs_];
    Limb* const s = &responses_[row * limbs_];
    reduce(*s_.order_, k, digest);
    multiply_add(*s_.order_, s, k, &key_scalars_[item.key * limbs_], &nonces_[row * limbs_]);
    little_endian_from_limbs({signature + size, size}, {s, limbs_});
  }

  /// One equation for all signatures; if they are few, or it does not hold, one for each.
  void check(const StopToken& stop) {
    if (items_.size() < kSumCost * s_.engine_.granularity()) return check_each(stop);
    const std::size_t width = coordinate_limbs_;
    Combination combination(s_.engine_, *s_.order_, items_.size());
    for (std::size_t row = 0; row < items_.size(); ++row) {
      const std::size_t key = items_[row].key, at = (key_count_ + row) * width;
      if (row == 0 || key != items_[row - 1].key) combination.begin_key(&x_[key * width], &y_[key * width]);
      combination.add(&x_[at], &y_[at], &responses_[row * limbs_], &challenges_[row * limbs_]);
    }
    std::vector<Limb> x(width), y(width), one(width);
    one[0] = 1;
    combination.sum(x.data(), y.data(), stop);
    const bool neutral = limbs::is_zero(x) == 1 && y == one;
    if (!neutral && !stop.was_requested()) check_each(stop);
  }
  /// S B - k A = R.
  void check_each(const StopToken& stop) {
    const std::size_t count = items_.size(), width = coordinate_limbs_;
    std::vector<Limb> x(count * width), y(count * width), found_x(count * width), found_y(count * width);
    for (std::size_t row = 0; row < count; ++row) {
      const std::size_t key = items_[row].key;
      limbs::negate_mod({&x[row * width], width}, {&x_[key * width], width}, s_.engine_.curve().p);
      std::copy_n(&y_[key * width], width, &y[row * width]);
    }
    s_.engine_.multiply_two({found_x.data(), found_y.data(), nullptr}, {responses_.data(), limbs_},
                            {challenges_.data(), limbs_}, {{x.data(), width}, {y.data(), width}}, {0, count},
                            stop);
    for (std::size_t row = 0; row < count; ++row) {
      const std::size_t at = (key_count_ + row) * width;
      const bool same = std::equal(&found_x[row * width], &found_x[row * width] + width, &x_[at]) &&
                        std::equal(&found_y[row * width], &found_y[row * width] + width, &y_[at]);
      if (!same) items_[row].status = MM_ITEM_ECC_FAULT;
    }
  }

  void write_result(std::size_t row) {
    const Item& item = items_[row];
    const std::size_t size = s_.instance_.size;
    if (item.status == MM_OK && s_.signs_) {
      std::copy_n(&signatures_[row * 2 * size], 2 * size, s_.outputs_.result(item.item, 2 * size).data());
    } else if (item.status == MM_OK) {
      std::copy_n(keys_[item.key].public_key.data(), size, s_.outputs_.result(item.item, size).data());
    }
    s_.set_status(item.item, item.status);
  }
};

void Signing::compute(std::span<const std::size_t> items, const StopToken& stop) const {
  Batch batch(*this);
  while (!items.empty() && !stop.requested_now()) {
    items = items.subspan(batch.take(items));
    batch.run(stop);
  }
}

}  // namespace

std::unique_ptr<Scheme> make_signing(mm_ecc_op op, const PointEngine& engine, const Inputs& inputs,
                                     const Outputs& outputs) {
  return std::make_unique<Signing>(op, engine, inputs, outputs);
}

}  // namespace manymod::ecc::eddsa
