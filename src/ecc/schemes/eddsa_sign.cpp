// SPDX-License-Identifier: Apache-2.0
// Public keys and signatures (RFC 8032, sections 5.1.5, 5.1.6, 5.2.5 and 5.2.6). Timing: constant-time in
// keys and nonces; sizes, messages and signatures are public.
//
// A public key that a caller gave could make two signatures of one message with one R and different k, which
// reveal the key; so A is always computed from the key, by the call or once for the keys of a ring. For the
// same reason a message and a context are copied before they are hashed: all hashes must see the same bytes,
// whatever other threads write. A deterministic signature that a fault spoiled reveals the key too: each one
// is checked before it leaves. The check starts from the bytes of the signature, of the public key and of the
// message, hashes them again, and then tests (S - k a) B = R and A = a B, which is as much as S B = R + k A.
// For keys of a ring A = a B was tested when the ring was made, and the call tests that they have not changed
// since.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

#include "ecc/schemes/eddsa_parts.hpp"
#include "ecc/schemes/multiples_check.hpp"
#include "ecc/schemes/prepared_keys.hpp"
#include "repr/limbs.hpp"
#include "repr/wipe.hpp"

namespace manymod::ecc::eddsa {
namespace {

/// Copied messages of a batch take about this many bytes for each item that it has room for, or one message.
constexpr std::size_t kMessageBytes = 1024;

/// 2^64 divided by the golden ratio, for multiplicative hashing (Knuth, volume 3, section 6.4).
constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;

class EddsaSigner final : public Scheme {
 public:
  EddsaSigner(mm_ecc_op op, const PointEngine& engine, const Inputs& inputs, const Outputs& outputs)
      : signs_(op == MM_ECC_SIGN),
        engine_(engine),
        inputs_(inputs),
        outputs_(outputs),
        instance_(instance_of(engine.curve())),
        order_(Order::of(engine.curve())),
        batch_(std::max(signs_ && inputs.check ? kCheckedItems : kBatch, engine.granularity())) {}

  [[nodiscard]] double item_ns() const override {
    const double base = engine_.item_ns(PointOperation::multiply_base) + kHashNs;
    if (!signs_) return base;
    const double multiples = inputs_.prepared != nullptr ? 1 : 2;
    if (is_on_gpu(engine_)) return multiples * base + kHostOfGpuNs;
    return (multiples + (inputs_.check ? 1 : 0)) * base + kHashNs;
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
class EddsaSigner::Batch {
 public:
  /// Room for `most` items.
  Batch(const EddsaSigner& scheme, std::size_t most)
      : s_(scheme),
        most_(most),
        hash_(scheme.instance_),
        limbs_(scheme.order_->limbs()),
        coordinate_limbs_(scheme.engine_.curve().limbs()),
        keys_(scheme.inputs_.prepared == nullptr ? most : 0),
        nonces_(scheme.signs_ ? most * limbs_ : 0),
        scalars_(2 * most * limbs_),
        x_(2 * most * coordinate_limbs_),
        y_(x_.size()),
        signatures_(scheme.signs_ ? most * 2 * scheme.instance_.size : 0) {
    items_.reserve(most);
  }
  ~Batch() { wipe_bytes(digest_.data(), digest_.size()); }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  /// Take items until the batch is full; returns how many.
  std::size_t take(std::span<const std::size_t> items) {
    items_.clear();
    key_count_ = 0;
    recent_keys_ = {};
    text_.clear();
    std::size_t taken = 0;
    while (taken < items.size() && items_.size() < most_ && text_.size() < most_ * kMessageBytes) {
      take_item(items[taken++]);
    }
    return taken;
  }

  void run(const StopToken& stop) {
    if (items_.empty()) return;
    load_scalars();
    s_.engine_.multiply_base({x_.data(), y_.data(), nullptr}, {scalars_.data(), limbs_}, {0, rows()},
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
  /// A key of keys_, or of a ring.
  struct KeyPlace {
    KeyParts parts;
    std::optional<std::size_t> row;  ///< of its point; none: it is not computed here
  };
  struct Item {
    std::size_t item;
    KeyPlace key;
    std::size_t domain, text, end;  ///< text_[domain .. text) is dom, text_[text .. end) the message
    mm_status status;
  };

  const EddsaSigner& s_;
  std::size_t most_;
  Hash hash_;
  std::size_t limbs_, coordinate_limbs_;
  std::vector<Item> items_;
  SecretArray<ExpandedKey> keys_;
  std::size_t key_count_ = 0;
  SecretArray<Limb> nonces_;
  SecretArray<Limb> scalars_;
  std::vector<Limb> x_, y_;  ///< of public keys and of R
  std::vector<std::uint8_t> text_, signatures_;
  /// Keys of this batch by the address of the caller's bytes, one for each hash of an address.
  struct RecentKey {
    const std::uint8_t* secret = nullptr;
    std::size_t key = 0;
  };
  static constexpr unsigned kRecentBits = 8;
  std::array<RecentKey, std::size_t{1} << kRecentBits> recent_keys_{};
  Digest digest_{};

  [[nodiscard]] ByteSpan text(std::size_t begin, std::size_t end) const {
    return ByteSpan(text_).subspan(begin, end - begin);
  }
  /// Rows of scalars_ that are used: keys, then nonces.
  [[nodiscard]] std::size_t rows() const { return key_count_ + (s_.signs_ ? items_.size() : 0); }
  void load_scalars() {
    for (std::size_t key = 0; key < key_count_; ++key) {
      std::copy_n(keys_[key].scalar.data(), limbs_, &scalars_[key * limbs_]);
    }
    if (!s_.signs_) return;
    std::copy_n(nonces_.data(), items_.size() * limbs_, scalars_.data() + key_count_ * limbs_);
  }
  void write_point(std::uint8_t* bytes, std::size_t row) const {
    write_edwards_point(s_.engine_.curve(), {bytes, s_.instance_.size}, &x_[row * coordinate_limbs_],
                        &y_[row * coordinate_limbs_]);
  }

  void take_item(std::size_t index) {
    const ByteSpan secret = (*s_.inputs_.secret)[index];
    if (secret.size() != s_.instance_.size) return s_.set_status(index, MM_ITEM_ECC_SECRET);
    Item item{index, {}, text_.size(), text_.size(), text_.size(), MM_OK};
    if (s_.signs_) {
      const Text given = text_of(s_.inputs_, index);
      if (given.status != MM_OK) return s_.set_status(index, given.status);
      const Domain domain(s_.instance_, s_.inputs_.prehashed, given.context);
      text_.insert(text_.end(), domain.bytes().begin(), domain.bytes().end());
      item.text = text_.size();
      text_.insert(text_.end(), given.message.begin(), given.message.end());
      item.end = text_.size();
    }
    item.key = key_of(index, secret);
    items_.push_back(item);
    if (s_.signs_) derive_nonce(items_.size() - 1);
  }

  /// A key that items have in common, at one address, is expanded once a batch, unless another with the same
  /// hash comes between them. Equal keys at different addresses are not compared: they are secret.
  KeyPlace key_of(std::size_t item, ByteSpan secret) {
    if (s_.inputs_.prepared != nullptr)
      return {s_.inputs_.prepared->parts(s_.inputs_.key_of(item), s_.engine_.curve()), {}};
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(secret.data());
    RecentKey& recent = recent_keys_[address * kGoldenRatio >> (64 - kRecentBits)];
    if (recent.secret != secret.data()) {
      expand(keys_[key_count_], s_.engine_.curve(), *s_.order_, hash_, secret);
      recent = {secret.data(), key_count_++};
    }
    return {keys_[recent.key].parts(limbs_, s_.instance_.size), recent.key};
  }

  void derive_nonce(std::size_t row) {
    const Item& item = items_[row];
    const ByteSpan digest = hash_.digest(
        digest_, {text(item.domain, item.text), item.key.parts.prefix, text(item.text, item.end)});
    reduce(*s_.order_, &nonces_[row * limbs_], digest);
  }

  /// k mod n, of the bytes of a signature's R and its public key.
  void challenge(Limb* k, std::size_t row) {
    const Item& item = items_[row];
    const ByteSpan commitment(&signatures_[row * 2 * s_.instance_.size], s_.instance_.size);
    const ByteSpan digest = hash_.digest(digest_, {text(item.domain, item.text), commitment,
                                                   item.key.parts.public_key, text(item.text, item.end)});
    reduce(*s_.order_, k, digest);
  }

  /// S = r + k a mod n.
  void finish_signature(std::size_t row) {
    const std::size_t size = s_.instance_.size;
    std::uint8_t* const signature = &signatures_[row * 2 * size];
    write_point(signature, key_count_ + row);
    std::array<Limb, kMaxOrderLimbs> s;
    challenge(s.data(), row);
    multiply_add(*s_.order_, s.data(), s.data(), items_[row].key.parts.scalar.data(), &nonces_[row * limbs_]);
    little_endian_from_limbs({signature + size, size}, {s.data(), limbs_});
  }

  /// One equation for all signatures, or if it does not hold, each by itself.
  void check(const StopToken& stop) {
    for (std::size_t row = 0; row < items_.size(); ++row) recompute_nonce(row);
    load_scalars();
    const PointRows points{{x_.data(), coordinate_limbs_}, {y_.data(), coordinate_limbs_}};
    const bool right =
        confirms_multiples(s_.engine_, *s_.order_, {scalars_.data(), limbs_}, points, rows(), stop);
    if (!right && !stop.was_requested()) check_each(stop);
  }
  /// The nonce that a signature has by its bytes: S - k a mod n.
  void recompute_nonce(std::size_t row) {
    const Item& item = items_[row];
    const std::size_t size = s_.instance_.size;
    const ByteSpan signature(&signatures_[row * 2 * size], 2 * size);
    require_encoding(row, signature.first(size), key_count_ + row);
    if (item.key.row) require_encoding(row, item.key.parts.public_key, *item.key.row);
    std::array<Limb, kMaxOrderLimbs> k, s;
    const std::span<Limb> product = std::span(k).first(limbs_), response = std::span(s).first(limbs_);
    challenge(k.data(), row);
    s_.order_->mul(k.data(), {k.data(), 0}, {item.key.parts.scalar.data(), 0}, 1);
    limbs_from_little_endian(response, signature.last(size));
    limbs::sub_mod({&nonces_[row * limbs_], limbs_}, response, product, s_.order_->n());
    wipe(k);
  }
  /// An item whose bytes are not the encoding of the point in a row has suffered a fault. Whether that is so
  /// is public. Not inlined, because the secret-independence tests suppress findings in this function by its
  /// name.
  [[gnu::noinline]] void require_encoding(std::size_t row, ByteSpan bytes, std::size_t point) {
    std::array<std::uint8_t, kMaxSize> encoded;
    write_point(encoded.data(), point);
    if (!std::ranges::equal(bytes, ByteSpan(encoded).first(bytes.size()))) {
      items_[row].status = MM_ITEM_ECC_FAULT;
    }
  }
  /// All points once more.
  void check_each(const StopToken& stop) {
    const Points again = multiply_again(s_.engine_, {scalars_.data(), limbs_}, limbs_, rows(), stop);
    if (stop.was_requested()) return;
    for (std::size_t row = 0; row < items_.size(); ++row) {
      require_point(row, again, key_count_ + row);
      if (items_[row].key.row) require_point(row, again, *items_[row].key.row);
    }
  }
  /// The same for an item with another point than the one that was computed again.
  [[gnu::noinline]] void require_point(std::size_t row, const Points& again, std::size_t point) {
    const std::size_t width = coordinate_limbs_;
    const bool same = std::ranges::equal(std::span(&x_[point * width], width), again.x[point]) &&
                      std::ranges::equal(std::span(&y_[point * width], width), again.y[point]);
    if (!same) items_[row].status = MM_ITEM_ECC_FAULT;
  }

  void write_result(std::size_t row) {
    const Item& item = items_[row];
    const std::size_t size = s_.instance_.size;
    if (item.status == MM_OK && s_.signs_) {
      std::copy_n(&signatures_[row * 2 * size], 2 * size, s_.outputs_.result(item.item, 2 * size).data());
    } else if (item.status == MM_OK) {
      std::ranges::copy(item.key.parts.public_key, s_.outputs_.result(item.item, size).begin());
    }
    s_.set_status(item.item, item.status);
  }
};

void EddsaSigner::compute(std::span<const std::size_t> items, const StopToken& stop) const {
  Batch batch(*this, std::min(items.size(), batch_));
  while (!items.empty() && !stop.requested_now()) {
    items = items.subspan(batch.take(items));
    batch.run(stop);
  }
}

}  // namespace

std::unique_ptr<Scheme> make_signing(mm_ecc_op op, const PointEngine& engine, const Inputs& inputs,
                                     const Outputs& outputs) {
  return std::make_unique<EddsaSigner>(op, engine, inputs, outputs);
}

}  // namespace manymod::ecc::eddsa
