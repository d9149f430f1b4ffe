// SPDX-License-Identifier: Apache-2.0
#include "rsa/key.hpp"

#include <string>
#include <utility>

#include "rsa/bytes.hpp"

namespace manymod::rsa {
namespace {

// Attempts to factor n with the private exponent; each fails with probability at most 1/2.
constexpr int kFactorAttempts = 128;

[[noreturn]] void reject_key(const std::string& reason) {
  throw StatusError(MM_ERR_KEY, "RSA key: " + reason);
}

void require_key(bool condition, const char* reason) {
  if (!condition) reject_key(reason);
}

// A BIGNUM in libcrypto's secure heap, flagged so that libcrypto uses constant-time functions if it has them.
Number new_number() {
  Number number(BN_secure_new());
  if (!number) throw std::bad_alloc();
  BN_set_flags(number.get(), BN_FLG_CONSTTIME);
  return number;
}

bool is_one(const Number& number) { return BN_is_one(number.get()) == 1; }
bool less(const Number& x, const Number& y) { return BN_cmp(x.get(), y.get()) < 0; }
bool same_number(const Number& x, const Number& y) { return BN_cmp(x.get(), y.get()) == 0; }

// Arithmetic by libcrypto; every result is a new number.
class Arithmetic {
 public:
  Arithmetic() : context_(BN_CTX_secure_new()) {
    if (!context_) throw std::bad_alloc();
  }

  [[nodiscard]] BN_CTX* context() { return context_.get(); }

  Number product(const Number& x, const Number& y) {
    Number r = new_number();
    require_crypto(BN_mul(r.get(), x.get(), y.get(), context()) == 1, "BN_mul");
    return r;
  }
  Number remainder(const Number& x, const Number& n) {
    Number r = new_number();
    require_crypto(BN_nnmod(r.get(), x.get(), n.get(), context()) == 1, "BN_nnmod");
    return r;
  }
  Number quotient(const Number& x, const Number& y) {
    Number r = new_number();
    require_crypto(BN_div(r.get(), nullptr, x.get(), y.get(), context()) == 1, "BN_div");
    return r;
  }
  /// x^-1 mod n; null if there is none.
  Number inverse(const Number& x, const Number& n) {
    Number r = new_number();
    if (BN_mod_inverse(r.get(), x.get(), n.get(), context()) == nullptr) return nullptr;
    return r;
  }
  Number gcd(const Number& x, const Number& y) {
    Number r = new_number();
    require_crypto(BN_gcd(r.get(), x.get(), y.get(), context()) == 1, "BN_gcd");
    return r;
  }
  Number power(const Number& x, const Number& y, const Number& n) {
    Number r = new_number();
    require_crypto(BN_mod_exp_mont_consttime(r.get(), x.get(), y.get(), n.get(), context(), nullptr) == 1,
                   "BN_mod_exp_mont_consttime");
    return r;
  }
  Number square(const Number& x, const Number& n) {
    Number r = new_number();
    require_crypto(BN_mod_sqr(r.get(), x.get(), n.get(), context()) == 1, "BN_mod_sqr");
    return r;
  }

 private:
  Libcrypto<BN_CTX> context_;
};

Number minus_one(const Number& x) {
  Number r = new_number();
  require_crypto(BN_copy(r.get(), x.get()) != nullptr && BN_sub_word(r.get(), 1) == 1, "BN_sub_word");
  return r;
}

// A random x with 2 <= x < n.
Number random_base(const Number& n) {
  Number x = new_number();
  do {
    require_crypto(BN_priv_rand_range(x.get(), n.get()) == 1, "BN_priv_rand_range");
  } while (BN_is_zero(x.get()) == 1 || is_one(x));
  return x;
}

// A square root of 1 modulo n other than 1 and -1 among base^(odd_part 2^i), 0 <= i < twos; null if there is
// none.
Number square_root_of_one(Arithmetic& arithmetic, const Number& base, const Number& odd_part, int twos,
                          const Number& n) {
  const Number top = minus_one(n);
  Number x = arithmetic.power(base, odd_part, n);
  for (int i = 0; i < twos && !is_one(x) && !same_number(x, top); ++i) {
    Number next = arithmetic.square(x, n);
    if (is_one(next)) return x;
    x = std::move(next);
  }
  return nullptr;
}

// Compute p and q from n, e and d: NIST SP 800-56B (2009), appendix C. Timing: reveals the number of
// attempts.
void recover_primes(Arithmetic& arithmetic, KeyNumbers& numbers) {
  const Number multiple = minus_one(arithmetic.product(numbers.e, numbers.d));
  require_key(BN_is_zero(multiple.get()) == 0 && BN_is_odd(multiple.get()) == 0,
              "e d - 1 is not a multiple of p - 1 and q - 1");
  int twos = 0;
  while (BN_is_bit_set(multiple.get(), twos) == 0) ++twos;
  Number odd_part = new_number();
  require_crypto(BN_rshift(odd_part.get(), multiple.get(), twos) == 1, "BN_rshift");
  for (int attempt = 0; attempt < kFactorAttempts; ++attempt) {
    const Number root = square_root_of_one(arithmetic, random_base(numbers.n), odd_part, twos, numbers.n);
    if (!root) continue;
    numbers.p = arithmetic.gcd(minus_one(root), numbers.n);
    numbers.q = arithmetic.quotient(numbers.n, numbers.p);
    return;
  }
  reject_key("p and q cannot be recovered: n, e and d do not belong together");
}

// The exponent decides what a public operation costs, and whoever makes the key chooses it.
void check_exponent_length(const Number& e, std::size_t max_bits) {
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
  require_key(numbers.d != nullptr || numbers.p == nullptr, "d is missing");
}

void check_primes(Arithmetic& arithmetic, const KeyNumbers& numbers) {
  for (const auto* prime : {&numbers.p, &numbers.q}) {
    const int verdict = BN_check_prime(prime->get(), arithmetic.context(), nullptr);
    require_crypto(verdict >= 0, "BN_check_prime");
    require_key(verdict == 1, prime == &numbers.p ? "p is not prime" : "q is not prime");
  }
}

void check_factors(Arithmetic& arithmetic, const KeyNumbers& numbers) {
  require_key(BN_is_odd(numbers.p.get()) == 1 && !is_one(numbers.p), "p is even or 1");
  require_key(BN_is_odd(numbers.q.get()) == 1 && !is_one(numbers.q), "q is even or 1");
  require_key(!same_number(numbers.p, numbers.q), "p and q are the same");
  require_key(same_number(arithmetic.product(numbers.p, numbers.q), numbers.n), "p q is not n");
}

// `computed` follows from other numbers: check `given` against it, or set `given` if it is missing.
void check_or_set(Number& given, Number computed, const char* mismatch) {
  if (given) return require_key(same_number(given, computed), mismatch);
  given = std::move(computed);
}

// Check that e d = 1 mod prime - 1, and check or set `reduced` = d mod prime - 1.
void check_or_set_exponent(Arithmetic& arithmetic, const KeyNumbers& numbers, const Number& prime,
                           Number& reduced, const char* no_inverse, const char* mismatch) {
  const Number order = minus_one(prime);
  Number computed = arithmetic.remainder(numbers.d, order);
  require_key(is_one(arithmetic.remainder(arithmetic.product(numbers.e, computed), order)), no_inverse);
  check_or_set(reduced, std::move(computed), mismatch);
}

// Check the private numbers, compute the missing ones and order the primes so that p > q.
void complete_private(KeyNumbers& numbers, unsigned checks) {
  require_key(less(numbers.d, numbers.n), "d is not below n");
  require_key(BN_is_zero(numbers.d.get()) == 0, "d is 0");
  Arithmetic arithmetic;
  if (!numbers.p) recover_primes(arithmetic, numbers);
  check_factors(arithmetic, numbers);
  if ((checks & MM_RSA_CHECK_PRIMES) != 0) check_primes(arithmetic, numbers);
  check_or_set_exponent(arithmetic, numbers, numbers.p, numbers.dp, "e d is not 1 mod p - 1",
                        "dp is not d mod p - 1");
  check_or_set_exponent(arithmetic, numbers, numbers.q, numbers.dq, "e d is not 1 mod q - 1",
                        "dq is not d mod q - 1");
  Number qinv = arithmetic.inverse(numbers.q, numbers.p);
  require_key(qinv != nullptr, "q has no inverse mod p");
  check_or_set(numbers.qinv, std::move(qinv), "qinv is not the inverse of q mod p");
  if (!less(numbers.p, numbers.q)) return;
  // With p > q a residue modulo q is reduced modulo p too.
  std::swap(numbers.p, numbers.q);
  std::swap(numbers.dp, numbers.dq);
  numbers.qinv = arithmetic.inverse(numbers.q, numbers.p);
}

// `number` in `limbs` limbs. Timing: constant-time in its value.
limbs::Buffer limbs_of(const Number& number, std::size_t limbs) {
  SecretBytes bytes(8 * limbs);
  require_crypto(BN_bn2binpad(number.get(), bytes.data(), static_cast<int>(bytes.size())) >= 0,
                 "BN_bn2binpad");
  limbs::Buffer buffer(limbs);
  limbs_from_bytes(buffer.first(limbs), bytes.first(bytes.size()));
  return buffer;
}

std::size_t limbs_needed(const Number& number) {
  return limbs_for_bits(static_cast<std::size_t>(BN_num_bits(number.get())));
}

// The number in big-endian bytes; null for no bytes. `what` is its name in messages.
Number number_from(const mm_bytes& bytes, const char* what) {
  if (bytes.size == 0) return nullptr;
  if (bytes.data == nullptr) throw StatusError(MM_ERR_NULL, std::string(what) + " is NULL");
  const ByteSpan digits = without_leading_zeros_var({bytes.data, bytes.size});
  if (digits.size() > MM_RSA_MAX_BITS / 8) {
    reject_key(std::string(what) + " has more than " + std::to_string(MM_RSA_MAX_BITS) + " bits");
  }
  Number number = new_number();
  require_crypto(BN_bin2bn(digits.data(), static_cast<int>(digits.size()), number.get()) != nullptr,
                 "BN_bin2bn");
  return number;
}

}  // namespace

Key::Key(KeyNumbers numbers, const KeyRules& rules) {
  const QuietErrors quiet;
  if ((rules.checks & ~unsigned{MM_RSA_CHECK_PRIMES}) != 0) {
    throw StatusError(MM_ERR_ARGUMENT, "checks has bits other than MM_RSA_CHECK_*");
  }
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
  SecretBytes exponent(bytes());
  bytes_from_limbs(exponent.first(bytes()), d());
  Hasher(MM_RSA_SHA256).digest(exponent_digest_, {exponent.first(bytes())});
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
  return std::make_shared<const Key>(std::move(given), KeyRules{numbers.checks, numbers.max_exponent_bits});
}

}  // namespace manymod::rsa
