// SPDX-License-Identifier: Apache-2.0
#include "rsa/key.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "abi/enum_value.hpp"
#include "repr/bytes.hpp"
#include "rsa/hashes.hpp"

namespace manymod::rsa {
namespace {

// Attempts to factor n with the private exponent; each fails with probability at most 1/2.
constexpr int kFactorAttempts = 40;

[[noreturn]] void reject_key(const std::string& reason) {
  throw StatusError(MM_ERR_KEY, "RSA key: " + reason);
}

[[noreturn]] void reject_unrelated() {
  reject_key("its primes cannot be recovered: n, e and d do not belong together");
}

void require_key(bool condition, const char* reason) {
  if (!condition) reject_key(reason);
}

// A BIGNUM in libcrypto's secure heap, flagged so that libcrypto uses constant-time functions if it has them.
crypto::Number new_number() {
  crypto::Number number(BN_secure_new());
  if (!number) throw std::bad_alloc();
  BN_set_flags(number.get(), BN_FLG_CONSTTIME);
  return number;
}

bool is_one(const crypto::Number& number) { return BN_is_one(number.get()) == 1; }
bool less(const crypto::Number& x, const crypto::Number& y) { return BN_cmp(x.get(), y.get()) < 0; }
bool same_number(const crypto::Number& x, const crypto::Number& y) { return BN_cmp(x.get(), y.get()) == 0; }

// Arithmetic by libcrypto; every result is a new number.
class Arithmetic {
 public:
  Arithmetic() : context_(BN_CTX_secure_new()) {
    if (!context_) throw std::bad_alloc();
  }

  [[nodiscard]] BN_CTX* context() { return context_.get(); }

  crypto::Number product(const crypto::Number& x, const crypto::Number& y) {
    crypto::Number r = new_number();
    crypto::require_crypto(BN_mul(r.get(), x.get(), y.get(), context()) == 1, "BN_mul");
    return r;
  }
  crypto::Number remainder(const crypto::Number& x, const crypto::Number& n) {
    crypto::Number r = new_number();
    crypto::require_crypto(BN_nnmod(r.get(), x.get(), n.get(), context()) == 1, "BN_nnmod");
    return r;
  }
  crypto::Number quotient(const crypto::Number& x, const crypto::Number& y) {
    crypto::Number r = new_number();
    crypto::require_crypto(BN_div(r.get(), nullptr, x.get(), y.get(), context()) == 1, "BN_div");
    return r;
  }
  /// x^-1 mod n; null if there is none.
  crypto::Number inverse(const crypto::Number& x, const crypto::Number& n) {
    crypto::Number r = new_number();
    if (BN_mod_inverse(r.get(), x.get(), n.get(), context()) == nullptr) return nullptr;
    return r;
  }
  crypto::Number gcd(const crypto::Number& x, const crypto::Number& y) {
    crypto::Number r = new_number();
    crypto::require_crypto(BN_gcd(r.get(), x.get(), y.get(), context()) == 1, "BN_gcd");
    return r;
  }
  crypto::Number power(const crypto::Number& x, const crypto::Number& y, const crypto::Number& n) {
    crypto::Number r = new_number();
    crypto::require_crypto(
        BN_mod_exp_mont_consttime(r.get(), x.get(), y.get(), n.get(), context(), nullptr) == 1,
        "BN_mod_exp_mont_consttime");
    return r;
  }
  crypto::Number square(const crypto::Number& x, const crypto::Number& n) {
    crypto::Number r = new_number();
    crypto::require_crypto(BN_mod_sqr(r.get(), x.get(), n.get(), context()) == 1, "BN_mod_sqr");
    return r;
  }

 private:
  crypto::Libcrypto<BN_CTX> context_;
};

crypto::Number minus_one(const crypto::Number& x) {
  crypto::Number r = new_number();
  crypto::require_crypto(BN_copy(r.get(), x.get()) != nullptr && BN_sub_word(r.get(), 1) == 1, "BN_sub_word");
  return r;
}

crypto::Number copy_of(const crypto::Number& x) {
  crypto::Number r = new_number();
  crypto::require_crypto(BN_copy(r.get(), x.get()) != nullptr, "BN_copy");
  return r;
}

// A random x with 2 <= x < n.
crypto::Number random_base(const crypto::Number& n) {
  crypto::Number x = new_number();
  do {
    crypto::require_crypto(BN_priv_rand_range(x.get(), n.get()) == 1, "BN_priv_rand_range");
  } while (BN_is_zero(x.get()) == 1 || is_one(x));
  return x;
}

// A square root of 1 modulo n other than 1 and -1 among base^(odd_part 2^i), 0 <= i < twos; null if there is
// none. @throws StatusError MM_ERR_KEY if base^(odd_part 2^twos) is not 1
crypto::Number square_root_of_one(Arithmetic& arithmetic, const crypto::Number& base,
                                  const crypto::Number& odd_part, int twos, const crypto::Number& n) {
  const crypto::Number top = minus_one(n);
  crypto::Number x = arithmetic.power(base, odd_part, n);
  for (int i = 0; i < twos; ++i) {
    if (is_one(x) || same_number(x, top)) return nullptr;
    crypto::Number next = arithmetic.square(x, n);
    if (is_one(next)) return x;
    x = std::move(next);
  }
  if (!is_one(x)) reject_unrelated();
  return nullptr;
}

// e d = 1 mod prime - 1.
bool inverts_exponent_modulo(Arithmetic& arithmetic, const KeyNumbers& numbers, const crypto::Number& prime) {
  const crypto::Number order = minus_one(prime);
  const crypto::Number reduced = arithmetic.remainder(numbers.d, order);
  return is_one(arithmetic.remainder(arithmetic.product(numbers.e, reduced), order));
}

// A factor of `composite` from e d - 1 = odd_part 2^twos, by NIST SP 800-56B (2009), appendix C.
crypto::Number factor_of(Arithmetic& arithmetic, const crypto::Number& composite,
                         const crypto::Number& odd_part, int twos) {
  for (int attempt = 0; attempt < kFactorAttempts; ++attempt) {
    const crypto::Number base = random_base(composite);
    crypto::Number common = arithmetic.gcd(base, composite);
    if (!is_one(common)) return common;
    const crypto::Number root = square_root_of_one(arithmetic, base, odd_part, twos, composite);
    if (root) return arithmetic.gcd(minus_one(root), composite);
  }
  reject_unrelated();
}

bool is_prime(Arithmetic& arithmetic, const crypto::Number& number) {
  const int verdict = BN_check_prime(number.get(), arithmetic.context(), nullptr);
  crypto::require_crypto(verdict >= 0, "BN_check_prime");
  return verdict == 1;
}

// Compute the primes from n, e and d. A factor f with e d != 1 mod f - 1 is composite. The converse fails: f
// = 15 of n = 3 * 5 * .. is composite although 14 may divide e d - 1. Timing: reveals the number of attempts.
void recover_primes(Arithmetic& arithmetic, KeyNumbers& numbers) {
  const crypto::Number multiple = minus_one(arithmetic.product(numbers.e, numbers.d));
  require_key(BN_is_zero(multiple.get()) == 0 && BN_is_odd(multiple.get()) == 0,
              "e d - 1 is not a multiple of p - 1 and q - 1");
  // A prime has no factor to be found.
  require_key(!is_prime(arithmetic, numbers.n), "n is prime");
  int twos = 0;
  while (BN_is_bit_set(multiple.get(), twos) == 0) ++twos;
  crypto::Number odd_part = new_number();
  crypto::require_crypto(BN_rshift(odd_part.get(), multiple.get(), twos) == 1, "BN_rshift");
  std::vector<crypto::Number> factors;
  factors.push_back(copy_of(numbers.n));
  for (std::size_t i = 0; i < factors.size();) {
    if (factors.size() > 1 && inverts_exponent_modulo(arithmetic, numbers, factors[i]) &&
        is_prime(arithmetic, factors[i])) {
      ++i;
      continue;
    }
    if (factors.size() == MM_RSA_MAX_PRIMES) reject_unrelated();
    crypto::Number factor = factor_of(arithmetic, factors[i], odd_part, twos);
    factors.push_back(arithmetic.quotient(factors[i], factor));
    factors[i] = std::move(factor);
  }
  numbers.p = std::move(factors[0]);
  numbers.q = std::move(factors[1]);
  for (std::size_t i = 2; i < factors.size(); ++i) {
    numbers.others.push_back({std::move(factors[i]), nullptr, nullptr});
  }
}

// The exponent decides what a public operation costs, and whoever makes the key chooses it.
void check_exponent_length(const crypto::Number& e, std::size_t max_bits) {
  const auto bits = static_cast<std::size_t>(BN_num_bits(e.get()));
  if (max_bits == 0) max_bits = MM_RSA_EXPONENT_BITS;
  if (bits <= max_bits) return;
  reject_key("e has " + std::to_string(bits) + " bits, but at most " + std::to_string(max_bits) +
             " are allowed (max_exponent_bits)");
}

void check_public(const KeyNumbers& numbers, std::size_t max_exponent_bits) {
  require_key(numbers.n != nullptr, "n is missing");
  require_key(numbers.e != nullptr, "e is missing");
  const int bits = BN_num_bits(numbers.n.get());
  if (bits < MM_RSA_MIN_BITS || bits > MM_RSA_MAX_BITS) {
    reject_key("n has " + std::to_string(bits) + " bits, expected " + std::to_string(MM_RSA_MIN_BITS) +
               " to " + std::to_string(MM_RSA_MAX_BITS));
  }
  require_key(BN_is_odd(numbers.n.get()) == 1, "n is even");
  require_key(BN_is_odd(numbers.e.get()) == 1, "e is even");
  require_key(!is_one(numbers.e), "e is 1");
  require_key(less(numbers.e, numbers.n), "e is not below n");
  check_exponent_length(numbers.e, max_exponent_bits);
}

void check_given_together(const KeyNumbers& numbers) {
  require_key((numbers.p == nullptr) == (numbers.q == nullptr), "p and q belong together, one is missing");
  const bool derived = numbers.dp || numbers.dq || numbers.qinv;
  require_key(!derived || numbers.p != nullptr, "dp, dq and qinv need p and q");
  require_key(numbers.others.empty() || numbers.p != nullptr, "other primes need p and q");
  require_key(numbers.d != nullptr || numbers.p == nullptr, "d is missing");
}

// p, q and the others.
std::vector<const crypto::Number*> primes_of(const KeyNumbers& numbers) {
  std::vector<const crypto::Number*> primes{&numbers.p, &numbers.q};
  for (const OtherPrime& other : numbers.others) primes.push_back(&other.prime);
  return primes;
}

// What messages call the prime at `index` of primes_of().
std::string prime_name(std::size_t index) {
  return index == 0 ? "p" : index == 1 ? "q" : "prime " + std::to_string(index + 1);
}

void check_primes(Arithmetic& arithmetic, const KeyNumbers& numbers) {
  const std::vector<const crypto::Number*> primes = primes_of(numbers);
  for (std::size_t i = 0; i < primes.size(); ++i) {
    if (!is_prime(arithmetic, *primes[i])) reject_key(prime_name(i) + " is not prime");
  }
}

void check_factors(Arithmetic& arithmetic, const KeyNumbers& numbers) {
  const std::vector<const crypto::Number*> primes = primes_of(numbers);
  crypto::Number product = copy_of(numbers.p);
  for (std::size_t i = 0; i < primes.size(); ++i) {
    if (BN_is_odd(primes[i]->get()) == 0 || is_one(*primes[i])) reject_key(prime_name(i) + " is even or 1");
    // Before it is multiplied: an encoding may have numbers of any length.
    if (!less(*primes[i], numbers.n)) reject_key(prime_name(i) + " is not below n");
    for (std::size_t j = 0; j < i; ++j) {
      if (same_number(*primes[i], *primes[j])) {
        reject_key(prime_name(j) + " and " + prime_name(i) + " are the same");
      }
    }
    if (i > 0) product = arithmetic.product(product, *primes[i]);
  }
  require_key(same_number(product, numbers.n),
              numbers.others.empty() ? "p q is not n" : "the product of the primes is not n");
}

// `computed` follows from other numbers: check `given` against it, or set `given` if it is missing.
void check_or_set(crypto::Number& given, crypto::Number computed, const std::string& mismatch) {
  if (!given) {
    given = std::move(computed);
  } else if (!same_number(given, computed)) {
    reject_key(mismatch);
  }
}

// Check that e d = 1 mod prime - 1, and check or set `reduced` = d mod prime - 1.
void check_or_set_exponent(Arithmetic& arithmetic, const KeyNumbers& numbers, const crypto::Number& prime,
                           crypto::Number& reduced, const std::string& name, const std::string& exponent) {
  if (!inverts_exponent_modulo(arithmetic, numbers, prime)) reject_key("e d is not 1 mod " + name + " - 1");
  check_or_set(reduced, arithmetic.remainder(numbers.d, minus_one(prime)),
               exponent + " is not d mod " + name + " - 1");
}

// Check or set qinv and the coefficients of the other primes.
void check_or_set_coefficients(Arithmetic& arithmetic, KeyNumbers& numbers) {
  crypto::Number qinv = arithmetic.inverse(numbers.q, numbers.p);
  require_key(qinv != nullptr, "q has no inverse mod p");
  check_or_set(numbers.qinv, std::move(qinv), "qinv is not the inverse of q mod p");
  crypto::Number product = arithmetic.product(numbers.p, numbers.q);
  for (std::size_t i = 0; i < numbers.others.size(); ++i) {
    OtherPrime& other = numbers.others[i];
    const std::string name = prime_name(i + 2);
    crypto::Number inverse = arithmetic.inverse(product, other.prime);
    if (!inverse) reject_key(name + " divides the product of the primes before it");
    check_or_set(other.coefficient, std::move(inverse), "the coefficient of " + name + " is not the inverse");
    product = arithmetic.product(product, other.prime);
  }
}

// Order the primes so that each is above the next one: a residue modulo q is then reduced modulo p too.
void order_primes(Arithmetic& arithmetic, KeyNumbers& numbers) {
  using Factor = std::pair<crypto::Number, crypto::Number>;  // a prime and its exponent
  const auto above = [](const crypto::Number* x, const crypto::Number* y) { return less(*y, *x); };
  if (std::ranges::is_sorted(primes_of(numbers), above)) return;
  std::vector<Factor> factors;
  factors.emplace_back(std::move(numbers.p), std::move(numbers.dp));
  factors.emplace_back(std::move(numbers.q), std::move(numbers.dq));
  for (OtherPrime& other : numbers.others) {
    factors.emplace_back(std::move(other.prime), std::move(other.exponent));
    other.coefficient = nullptr;
  }
  std::ranges::sort(factors, [](const Factor& x, const Factor& y) { return less(y.first, x.first); });
  std::tie(numbers.p, numbers.dp) = std::move(factors[0]);
  std::tie(numbers.q, numbers.dq) = std::move(factors[1]);
  for (std::size_t i = 0; i < numbers.others.size(); ++i) {
    std::tie(numbers.others[i].prime, numbers.others[i].exponent) = std::move(factors[i + 2]);
  }
  numbers.qinv = nullptr;
  check_or_set_coefficients(arithmetic, numbers);
}

// Check the private numbers, compute the missing ones and order the primes.
void complete_private(KeyNumbers& numbers, unsigned checks) {
  require_key(less(numbers.d, numbers.n), "d is not below n");
  require_key(BN_is_zero(numbers.d.get()) == 0, "d is 0");
  Arithmetic arithmetic;
  if (!numbers.p) recover_primes(arithmetic, numbers);
  check_factors(arithmetic, numbers);
  if ((checks & MM_RSA_CHECK_PRIMES) != 0) check_primes(arithmetic, numbers);
  check_or_set_exponent(arithmetic, numbers, numbers.p, numbers.dp, "p", "dp");
  check_or_set_exponent(arithmetic, numbers, numbers.q, numbers.dq, "q", "dq");
  for (std::size_t i = 0; i < numbers.others.size(); ++i) {
    OtherPrime& other = numbers.others[i];
    const std::string name = prime_name(i + 2);
    check_or_set_exponent(arithmetic, numbers, other.prime, other.exponent, name, "the exponent of " + name);
  }
  check_or_set_coefficients(arithmetic, numbers);
  order_primes(arithmetic, numbers);
}

void check_pss(const mm_rsa_pss_limits& pss) {
  const auto known = [](const mm_hash& hash) {
    return enum_value(hash) == MM_HASH_NONE || find_rsa_hash(hash) != nullptr;
  };
  if ((pss.only != 0 && pss.only != 1) || !known(pss.hash) || !known(pss.mgf_hash) || pss.least_salt < 0) {
    throw StatusError(MM_ERR_ARGUMENT, "pss has a value that is not one of mm_rsa_pss_limits");
  }
  const bool limits = pss.hash != MM_HASH_NONE || pss.mgf_hash != MM_HASH_NONE || pss.least_salt != 0;
  if (limits && pss.only == 0) throw StatusError(MM_ERR_ARGUMENT, "pss has limits, but pss.only is 0");
}

// `number` in `limbs` limbs. Timing: constant-time in its value.
limbs::Buffer limbs_of(const crypto::Number& number, std::size_t limbs) {
  SecretBytes bytes(8 * limbs);
  crypto::require_crypto(BN_bn2binpad(number.get(), bytes.data(), static_cast<int>(bytes.size())) >= 0,
                         "BN_bn2binpad");
  limbs::Buffer buffer(limbs);
  limbs_from_bytes(buffer.first(limbs), bytes.first(bytes.size()));
  return buffer;
}

std::size_t limbs_needed(const crypto::Number& number) {
  return limbs_for_bits(static_cast<std::size_t>(BN_num_bits(number.get())));
}

// The number in big-endian bytes; null for no bytes. `what` is its name in messages.
crypto::Number number_from(const mm_bytes& bytes, const char* what) {
  if (bytes.size == 0) return nullptr;
  if (bytes.data == nullptr) throw StatusError(MM_ERR_NULL, std::string(what) + " is NULL");
  const ByteSpan digits = without_leading_zeros_var({bytes.data, bytes.size});
  if (digits.size() > MM_RSA_MAX_BITS / 8) {
    reject_key(std::string(what) + " has more than " + std::to_string(MM_RSA_MAX_BITS) + " bits");
  }
  crypto::Number number = new_number();
  crypto::require_crypto(BN_bin2bn(digits.data(), static_cast<int>(digits.size()), number.get()) != nullptr,
                         "BN_bin2bn");
  return number;
}

}  // namespace

Key::Key(KeyNumbers numbers, const KeyRules& rules, const mm_rsa_pss_limits& pss) : pss_(pss) {
  const crypto::QuietErrors quiet;
  if ((rules.checks & ~unsigned{MM_RSA_CHECK_PRIMES}) != 0) {
    throw StatusError(MM_ERR_ARGUMENT, "checks has bits other than MM_RSA_CHECK_*");
  }
  check_pss(pss);
  check_public(numbers, rules.max_exponent_bits);
  check_given_together(numbers);
  if (numbers.d) complete_private(numbers, rules.checks);
  bits_ = static_cast<std::size_t>(BN_num_bits(numbers.n.get()));
  exponent_bytes_ = static_cast<std::size_t>(BN_num_bytes(numbers.e.get()));
  n_ = limbs_of(numbers.n, limbs());
  e_ = limbs_of(numbers.e, limbs_needed(numbers.e));
  if (numbers.d) keep_private(numbers);
}

void Key::keep_private(const KeyNumbers& numbers) {
  d_ = limbs_of(numbers.d, limbs());
  const std::size_t half = limbs_needed(numbers.p);
  p_ = limbs_of(numbers.p, half);
  q_ = limbs_of(numbers.q, limbs_needed(numbers.q));
  dp_ = limbs_of(numbers.dp, half);
  dq_ = limbs_of(numbers.dq, half);
  qinv_ = limbs_of(numbers.qinv, half);
  Arithmetic arithmetic;
  crypto::Number before = arithmetic.product(numbers.p, numbers.q);
  for (const OtherPrime& other : numbers.others) {
    const std::size_t limbs = limbs_needed(other.prime);
    others_.push_back({limbs_of(other.prime, limbs), limbs_of(other.exponent, limbs),
                       limbs_of(other.coefficient, limbs), limbs_of(before, limbs_needed(before))});
    before = arithmetic.product(before, other.prime);
  }
  SecretBytes exponent(bytes());
  bytes_from_limbs(exponent.first(bytes()), d());
  crypto::Hasher(MM_SHA256).digest(exponent_digest_, {exponent.first(bytes())});
}

std::shared_ptr<const Key> key_from_numbers(const mm_rsa_numbers& numbers) {
  KeyNumbers given;
  given.n = number_from(numbers.n, "n");
  given.e = number_from(numbers.e, "e");
  given.d = number_from(numbers.d, "d");
  given.p = number_from(numbers.p, "p");
  given.q = number_from(numbers.q, "q");
  given.dp = number_from(numbers.dp, "dp");
  given.dq = number_from(numbers.dq, "dq");
  given.qinv = number_from(numbers.qinv, "qinv");
  if (numbers.other_prime_count > MM_RSA_MAX_PRIMES - 2) {
    reject_key("more than " + std::to_string(MM_RSA_MAX_PRIMES) + " primes");
  }
  if (numbers.other_prime_count > 0 && numbers.other_primes == nullptr) {
    throw StatusError(MM_ERR_NULL, "other_primes is NULL");
  }
  for (std::size_t i = 0; i < numbers.other_prime_count; ++i) {
    const mm_rsa_prime& other = numbers.other_primes[i];
    const std::string name = prime_name(i + 2);
    crypto::Number prime = number_from(other.prime, name.c_str());
    if (!prime) reject_key(name + " is missing");
    given.others.push_back({std::move(prime),
                            number_from(other.exponent, ("the exponent of " + name).c_str()),
                            number_from(other.coefficient, ("the coefficient of " + name).c_str())});
  }
  return std::make_shared<const Key>(std::move(given), KeyRules{numbers.checks, numbers.max_exponent_bits},
                                     numbers.pss);
}

}  // namespace manymod::rsa
