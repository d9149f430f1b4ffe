// SPDX-License-Identifier: Apache-2.0
#include "ecc/schemes/signatures.hpp"

#include <algorithm>
#include <array>

#include "core/read_once.hpp"
#include "ecc/schemes/multiples_check.hpp"
#include "repr/limbs.hpp"

namespace manymod::ecc {
namespace {

// After so many nonces without a signature an item gets MM_ITEM_ECC_NONCE. On curves of practical size the
// first nonce always succeeds; on tiny test curves some keys and messages have no signature.
constexpr unsigned kMostAttempts = 64;

bool read_numbers(const Curve& curve, mm_ecc_signature_format format, Signatures& x, std::size_t row,
                  ByteSpan bytes) {
  const std::span<Limb> r = x.r[row];
  const std::span<Limb> s = x.s[row];
  if (format == MM_ECC_DER) {
    if (!read_der(bytes, r, s)) return false;
  } else {
    const std::size_t size = curve.scalar_bytes();
    const bool recoverable = format == MM_ECC_RECOVERABLE;
    if (bytes.size() != 2 * size + (recoverable ? 1 : 0)) return false;
    limbs_from_bytes(r, bytes.first(size));
    limbs_from_bytes(s, bytes.subspan(size, size));
    if (recoverable) x.id[row] = read_once(bytes[2 * size]);
  }
  return x.id[row] <= kMostRecoveryId && in_range(r, curve.n) != 0 && in_range(s, curve.n) != 0;
}

}  // namespace

mm_hash hash_of(const Inputs& inputs, Task task, const Curve& curve) {
  return inputs.hash != MM_HASH_NONE ? inputs.hash : usual_hash(task, curve);
}

bool wants_low_s(const Curve& curve, int low_s) {
  return low_s > 0 || (low_s == 0 && curve.id == CurveId::secp256k1);
}

Limb at_least(std::span<const Limb> a, std::span<const Limb> n) {
  Limb borrow = 0;
  for (std::size_t i = 0; i < std::max(a.size(), n.size()); ++i) {
    word::sub_borrow(i < a.size() ? a[i] : 0, i < n.size() ? n[i] : 0, borrow);
  }
  return borrow ^ 1;
}

bool nonce_coordinate(std::span<Limb> x, std::span<const Limb> r, std::uint8_t id, const Curve& curve) {
  if ((id & 2) == 0) {
    limbs::copy_extend(x, r);
    return limbs::less_var(r, curve.p);
  }
  Rows sum(1, r.size() + 1);
  sum[0][r.size()] = limbs::add(sum[0].first(r.size()), r, curve.n);
  limbs::copy_extend(x, sum[0]);
  return limbs::less_var(sum[0], curve.p);
}

Limb is_high(std::span<const Limb> s, std::span<const Limb> n) {
  Limb borrow = 0;
  Limb carry = 0;
  for (std::size_t i = 0; i < n.size(); ++i) {
    const Limb doubled = (s[i] << 1) | carry;
    carry = s[i] >> (kLimbBits - 1);
    word::sub_borrow(n[i], doubled, borrow);
  }
  return word::mask_from_bit(borrow | carry);
}

Signatures read_signatures(const Curve& curve, const Inputs& inputs, const Block& block) {
  Signatures x(curve, block.size());
  for (std::size_t row = 0; row < block.size(); ++row) {
    const ByteSpan bytes = (*inputs.signature)[block.item(row)];
    if (read_numbers(curve, inputs.signature_format, x, row, bytes)) continue;
    block.fail(row, MM_ITEM_ECC_SIGNATURE);
    x.id[row] = 0;
    for (Rows* numbers : {&x.r, &x.s}) {
      std::ranges::fill((*numbers)[row], Limb{0});
      (*numbers)[row][0] = 1;
    }
  }
  return x;
}

Signing::Signing(const Curve& curve, const ItemsIn& secrets, const Block& block)
    : secret(curve, secrets, block, MM_ITEM_ECC_SECRET),
      message(block.size(), curve.scalar_limbs()),
      k(block.size(), curve.scalar_limbs()),
      r(block.size(), curve.scalar_limbs()),
      s(block.size(), curve.scalar_limbs()),
      point(block.size(), curve.limbs()),
      id(block.size()) {}

Signer::Signer(const SchemeArguments& arguments)
    : BlockScheme(arguments),
      order_(Order::of(curve())),
      check_(inputs_.check && inputs_.nonces == MM_ECC_NONCE_DETERMINISTIC) {}

double Signer::item_ns() const {
  const double points = engine_.item_ns(PointOperation::multiply_base) * (check_ ? 2 : 1);
  return points + kDigestNs + kOrderNs + (inputs_.nonces == MM_ECC_NONCE_GIVEN ? 0 : kNonceNs);
}

void Signer::compute(std::span<const std::size_t> items, const StopToken& stop) const {
  const std::unique_ptr<SignedMessages> source = messages();
  Nonces nonces(curve(), inputs_, hash_of(inputs_, task_, curve()));
  for_blocks(
      items, engine_, outputs_.status, stop,
      [&](const Block& block) { sign(block, *source, nonces, 0, stop); },
      check_ ? kCheckedItems : kBlockItems);
}

void Signer::make(Signing& x, const Block& block, Nonces& nonces, unsigned attempt,
                  const StopToken& stop) const {
  nonces.generate(x.k, x.secret, x.message, block, attempt);
  engine_.multiply_base(x.point.results(), x.k.view(), block.range(), TimingClass::secret, stop);
  if (stop.was_requested()) return;
  compute_r(x.r, x.point, x, block.size());
  compute_s(x, block.size());
}

void Signer::sign(const Block& block, SignedMessages& messages, Nonces& nonces, unsigned attempt,
                  const StopToken& stop) const {
  Signing x(curve(), *inputs_.secret, block);
  messages.read(x, block, stop);
  make(x, block, nonces, attempt, stop);
  if (stop.was_requested()) return;
  const std::vector<std::size_t> unusable = items_without_signature(x, block);
  if (check_) verify_again(x, block, stop);
  if (stop.was_requested()) return;
  write(x, block, unusable);
  if (!unusable.empty()) retry(unusable, messages, nonces, attempt, stop);
}

void Signer::retry(const std::vector<std::size_t>& items, SignedMessages& messages, Nonces& nonces,
                   unsigned attempt, const StopToken& stop) const {
  const Block block(items, outputs_.status);
  if (nonces.has_more() && attempt < kMostAttempts) return sign(block, messages, nonces, attempt + 1, stop);
  for (std::size_t row = 0; row < block.size(); ++row) block.fail(row, MM_ITEM_ECC_NONCE);
}

bool Signer::usable(const Signing& x, std::size_t row) const {
  return in_range(x.r[row], curve().n) != 0 && in_range(x.s[row], curve().n) != 0 && is_signature_of(x, row);
}

// Whether a nonce gives a signature is public. Not inlined, because the secret-independence tests suppress
// findings in this function by its name.
[[gnu::noinline]] std::vector<std::size_t> Signer::items_without_signature(const Signing& x,
                                                                           const Block& block) const {
  std::vector<std::size_t> items;
  for (std::size_t row = 0; row < block.size(); ++row) {
    if (!block.failed(row) && !usable(x, row)) items.push_back(block.item(row));
  }
  return items;
}

// The equation of verification before signatures leave. For the public key d G its point u G + v Q is (u + v
// d) G: one multiplication of the generator. A fault in k G, in s or in an inverse gives another point.
void Signer::verify_again(const Signing& x, const Block& block, const StopToken& stop) const {
  const std::size_t count = block.size();
  Rows k(count, order().limbs());
  recompute_k(k, x, count);
  if (confirms_all(x, k, block, stop) || stop.was_requested()) return;
  const Points point = multiply_again(engine_, k.view(), k.limbs(), count, stop);
  if (stop.was_requested()) return;
  compute_r(k, point, x, count);
  for (std::size_t row = 0; row < count; ++row) reject_fault(x, k[row], point.y[row][0] & 1, block, row);
}

// Whether one equation shows that k G is x.point, or its opposite where the recovery id says so, and all r
// are those of these points.
bool Signer::confirms_all(const Signing& x, const Rows& k, const Block& block, const StopToken& stop) const {
  const std::size_t count = block.size();
  // A device keeps the points of signatures that it makes.
  if (engine_.device_schemes() != nullptr) return false;
  Rows number(count, order().limbs());
  compute_r(number, x.point, x, count);
  bool right = true;
  for (std::size_t row = 0; row < count; ++row) right = agree(x, number, row) && right;
  if (!right) return false;
  Rows y(count, curve().limbs());
  for (std::size_t row = 0; row < count; ++row) with_parity(y[row], x.point.y[row], x.id[row], curve().p);
  return confirms_multiples(engine_, order(), k.view(), {x.point.x.view(), y.view(), x.point.infinity.data()},
                            count, stop);
}

// Whether r is x.r is public. Not inlined, because the secret-independence tests suppress findings in this
// function by its name.
[[gnu::noinline]] bool Signer::agree(const Signing& x, const Rows& r, std::size_t row) const {
  return std::ranges::equal(r[row], x.r[row]);
}

// `r` and `odd`: of the point that the equation gives. Whether it is right is public. Not inlined, because
// the secret-independence tests suppress findings in this function by its name.
[[gnu::noinline]] void Signer::reject_fault(const Signing& x, std::span<const Limb> r, Limb odd,
                                            const Block& block, std::size_t row) const {
  const bool right = std::ranges::equal(r, x.r[row]) && odd == (x.id[row] & 1U);
  // What is no signature never leaves.
  if (!right && usable(x, row)) block.fail(row, MM_ITEM_ECC_FAULT);
}

void Signer::write(const Signing& x, const Block& block, std::span<const std::size_t> unusable) const {
  for (std::size_t row = 0; row < block.size(); ++row) {
    const bool leaves = !std::ranges::binary_search(unusable, block.item(row));
    if (leaves && block.succeed(row)) write_one(block.item(row), x, row);
  }
}

// Signatures are public. Not inlined, because the secret-independence tests suppress findings in this
// function by its name.
[[gnu::noinline]] void Signer::write_one(std::size_t item, const Signing& x, std::size_t row) const {
  if (inputs_.signature_format == MM_ECC_DER) {
    std::array<std::uint8_t, kMaxDer> der;
    const std::size_t length = write_der(der, x.r[row], x.s[row]);
    std::copy_n(der.begin(), length, outputs_.result(item, length).begin());
    return;
  }
  const std::size_t size = curve().scalar_bytes();
  const bool recoverable = inputs_.signature_format == MM_ECC_RECOVERABLE;
  const auto bytes = outputs_.result(item, 2 * size + (recoverable ? 1 : 0));
  bytes_from_limbs(bytes.first(size), x.r[row]);
  bytes_from_limbs(bytes.subspan(size, size), x.s[row]);
  if (recoverable) bytes.back() = x.id[row];
}

}  // namespace manymod::ecc
