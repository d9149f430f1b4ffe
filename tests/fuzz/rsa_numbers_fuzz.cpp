// SPDX-License-Identifier: Apache-2.0
// RSA keys from numbers: a key is accepted exactly if all relations of its numbers hold, which libcrypto's
// numbers check.
#include <optional>
#include <string>

#include "fuzz/rsa_oracle.hpp"

namespace manymod::fuzz {
namespace {

constexpr std::size_t kKeys =
    3;  // of 1024, 1031 and 1040 bits: longer ones take longer and reach nothing new
constexpr int kBoundOfExponent = 64;

const KeyNumbers& test_key(std::size_t index) {
  static const std::array<KeyNumbers, kKeys> keys{KeyNumbers(0), KeyNumbers(1), KeyNumbers(2)};
  return keys[index];
}

// A number in the place of `right`.
Number changed(Choices& choices, const Number& right) {
  Number number(BN_dup(right.get()));
  switch (choices.below(6)) {
    case 0:
      did(BN_add_word(number.get(), choices.byte()));
      return number;
    case 1:
      return product(number, number_of_word(choices.byte()));
    case 2:
      BN_set_bit(number.get(), static_cast<int>(choices.below(1100)));
      return number;
    case 3:
      did(BN_rshift(number.get(), number.get(), static_cast<int>(choices.below(1100))));
      return number;
    case 4:
      return number_of_bytes(choices.bytes(1100));
    default:
      return number_of_word(choices.byte());
  }
}

using Parts = std::array<Number, kParts>;

bool is_below(const Number& x, const Number& y) { return BN_cmp(x.get(), y.get()) < 0; }
bool is_odd_above_one(const Number& x) { return BN_is_odd(x.get()) == 1 && BN_is_one(x.get()) == 0; }

bool is_inverse(const Number& x, const Number& y, const Number& n) {
  return BN_is_one(remainder(product(x, y), n).get()) == 1;
}

bool agrees(const Number& given, const Number& expected) { return !given || same(given, expected); }

bool is_public_key(const Parts& part) {
  if (!part[kN] || !part[kE]) return false;
  const int bits = BN_num_bits(part[kN].get());
  return bits >= MM_RSA_MIN_BITS && bits <= MM_RSA_MAX_BITS && BN_is_odd(part[kN].get()) == 1 &&
         is_odd_above_one(part[kE]) && is_below(part[kE], part[kN]);
}

// Whether d, p and q fit n and e. In: p and q are given.
bool is_private_key(const Parts& part) {
  const Number& p = part[kP];
  const Number& q = part[kQ];
  if (BN_is_zero(part[kD].get()) == 1 || !is_below(part[kD], part[kN])) return false;
  if (!is_odd_above_one(p) || !is_odd_above_one(q) || same(p, q) || !same(product(p, q), part[kN]))
    return false;
  const Number p1 = minus(p, 1);
  const Number q1 = minus(q, 1);
  if (!is_inverse(part[kE], part[kD], p1) || !is_inverse(part[kE], part[kD], q1)) return false;
  const Number qinv = inverse(q, p);
  return qinv && agrees(part[kDp], remainder(part[kD], p1)) && agrees(part[kDq], remainder(part[kD], q1)) &&
         agrees(part[kQinv], qinv);
}

// Whether the numbers are a key. Nothing where only an attempt to factor n tells.
std::optional<bool> expected(const Parts& part, const Parts& known) {
  if (!is_public_key(part)) return false;
  if ((part[kP] == nullptr) != (part[kQ] == nullptr)) return false;
  if (!part[kP] && (part[kDp] || part[kDq] || part[kQinv])) return false;
  if (!part[kD]) return !part[kP];
  if (part[kP]) return is_private_key(part);
  if (!same(part[kN], known[kN])) return std::nullopt;
  Parts whole;
  for (std::size_t i = 0; i < kParts; ++i) {
    const Number& from = i == kP || i == kQ ? known[i] : part[i];
    if (from) whole[i].reset(BN_dup(from.get()));
  }
  return is_private_key(whole);
}

void run(Choices& choices) {
  const KeyNumbers& key = test_key(choices.below(kKeys));
  Parts part;
  std::array<Bytes, kParts> bytes;
  const std::uint8_t left_out = choices.byte();
  const std::size_t changes = choices.below(4);
  for (std::size_t i = 0; i < kParts; ++i) {
    if ((left_out >> i & 1) == 0) part[i].reset(BN_dup(key.part[i].get()));
  }
  for (std::size_t change = 0; change < changes; ++change) {
    const std::size_t at = choices.below(kParts);
    part[at] = changed(choices, key.part[at]);
  }
  if (part[kP] && part[kQ] && choices.one_in(4)) std::swap(part[kP], part[kQ]);
  const std::size_t zeros = choices.below(4);
  for (std::size_t i = 0; i < kParts; ++i) {
    if (part[i]) bytes[i] = bytes_of(part[i], static_cast<std::size_t>(BN_num_bytes(part[i].get())) + zeros);
    // A number without bytes is a number left out.
    if (bytes[i].empty()) part[i] = nullptr;
  }
  mm_rsa_numbers numbers{};
  numbers.struct_size = sizeof numbers;
  mm_bytes* const places[kParts] = {&numbers.n, &numbers.e,  &numbers.d,  &numbers.p,
                                    &numbers.q, &numbers.dp, &numbers.dq, &numbers.qinv};
  for (std::size_t i = 0; i < kParts; ++i) *places[i] = {bytes[i].data(), bytes[i].size()};

  mm_rsa_key* created = nullptr;
  const mm_status status = mm_rsa_key_create(&numbers, &created);
  const Key owned(created);
  require((status == MM_OK) == (created != nullptr), "a key and a failure, or neither");
  require(status == MM_OK || status == MM_ERR_KEY,
          std::string("mm_rsa_key_create returned ") + mm_status_name(status) + ": " + mm_last_error());
  const std::optional<bool> is_key = expected(part, key.part);
  // Long public exponents may be refused, as they slow the caller down.
  const bool may_refuse = part[kE] && BN_num_bits(part[kE].get()) > kBoundOfExponent;
  if (is_key && !(may_refuse && *is_key)) {
    require(*is_key == (status == MM_OK),
            std::string(*is_key ? "refused" : "accepted") + ": " + mm_last_error());
  }
  if (created != nullptr) check_key(created, !part[kP] || same(part[kN], key.part[kN]));
}

}  // namespace
}  // namespace manymod::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  manymod::fuzz::Choices choices(data, size);
  manymod::fuzz::run(choices);
  return 0;
}
