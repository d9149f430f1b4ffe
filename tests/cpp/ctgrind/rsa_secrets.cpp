// SPDX-License-Identifier: Apache-2.0
// Runs under valgrind: RSA with its secrets marked as undefined memory. Secret are the private numbers of a
// key (of the primes all but their lowest and highest limbs, since parity and length are public), the
// messages that are decrypted and the messages that are encrypted. valgrind reports each branch and each
// address that depends on them.
//
// Public, and named in declassified.supp: whether a result of the Chinese remainder theorem is correct,
// whether OAEP padding is valid, and the statuses that follow from these.
#include <openssl/bn.h>
#include <valgrind/memcheck.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "dispatch/obstacles.hpp"
#include "dispatch/registry.hpp"
#include "dispatch/selection.hpp"
#include "rsa/arithmetic.hpp"
#include "rsa/key.hpp"
#include "rsa/padding.hpp"
#include "rsa/ring.hpp"
#include "rsa/test_primes.hpp"

namespace {

using namespace manymod;
using Bytes = std::vector<std::uint8_t>;

/// Ends the program with a message if the condition does not hold.
void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "failed: %s: %s\n", what, mm_last_error());
  std::exit(1);
}

/// Mark memory as undefined; poison_inner leaves out the lowest and the highest limb.
void poison(std::span<const Limb> limbs) { VALGRIND_MAKE_MEM_UNDEFINED(limbs.data(), limbs.size_bytes()); }
void poison(Bytes& bytes) { VALGRIND_MAKE_MEM_UNDEFINED(bytes.data(), bytes.size()); }
void poison_inner(std::span<const Limb> limbs) { poison(limbs.subspan(1, limbs.size() - 2)); }
/// Marks memory as defined, as a caller may look at results.
template <class T>
void declassify(const std::vector<T>& values) {
  VALGRIND_MAKE_MEM_DEFINED(values.data(), values.size() * sizeof(T));
}

/// The number with these hexadecimal digits.
crypto::Number number(const char* digits) {
  BIGNUM* value = nullptr;
  require(BN_hex2bn(&value, digits) > 0, "BN_hex2bn");
  return crypto::Number(value);
}

/// The key with these primes, computed by libcrypto. `third`: a third prime; null: none.
std::shared_ptr<const rsa::Key> make_key(const testing::TestPrimes& primes, const char* third) {
  const crypto::Libcrypto<BN_CTX> context(BN_CTX_new());
  rsa::KeyNumbers numbers;
  numbers.e = number(primes.e);
  numbers.p = number(primes.p);
  numbers.q = number(primes.q);
  numbers.n.reset(BN_new());
  const crypto::Number p1(BN_dup(numbers.p.get()));
  const crypto::Number q1(BN_dup(numbers.q.get()));
  const crypto::Number order(BN_new());
  require(BN_sub_word(p1.get(), 1) == 1 && BN_sub_word(q1.get(), 1) == 1 &&
              BN_mul(order.get(), p1.get(), q1.get(), context.get()) == 1 &&
              BN_mul(numbers.n.get(), numbers.p.get(), numbers.q.get(), context.get()) == 1,
          "libcrypto computes a key");
  if (third != nullptr) {
    crypto::Number prime = number(third);
    const crypto::Number less_one(BN_dup(prime.get()));
    require(BN_sub_word(less_one.get(), 1) == 1 &&
                BN_mul(order.get(), order.get(), less_one.get(), context.get()) == 1 &&
                BN_mul(numbers.n.get(), numbers.n.get(), prime.get(), context.get()) == 1,
            "libcrypto computes a key of three primes");
    numbers.others.push_back({std::move(prime), nullptr, nullptr});
  }
  numbers.d.reset(BN_mod_inverse(nullptr, numbers.e.get(), order.get(), context.get()));
  return std::make_shared<const rsa::Key>(std::move(numbers), rsa::KeyRules{0, MM_RSA_MAX_BITS});
}

/// Marks the private numbers of a key as undefined.
void poison_private(const rsa::Key& key) {
  for (const std::span<const Limb> secret : {key.d(), key.dp(), key.dq(), key.qinv()}) poison(secret);
  for (std::size_t i = 0; i < key.primes(); ++i) {
    poison_inner(key.prime(i));
    if (i < 2) continue;
    poison(key.exponent(i));
    poison(key.coefficient(i));
    poison_inner(key.before(i));
  }
  VALGRIND_MAKE_MEM_UNDEFINED(key.exponent_digest().data(), key.exponent_digest().size());
}

/// What to do with a batch.
struct Call {
  mm_rsa_op op;
  mm_rsa_scheme scheme;
};

/// The outputs of a call on `count` inputs of equal size.
Bytes run(const rsa::Ring& ring, const Call& what, std::size_t count, const Bytes& inputs) {
  const std::size_t k = ring.max_modulus_bytes();
  Bytes output(count * k);
  std::vector<std::size_t> sizes(count);
  Bytes statuses(count);
  mm_rsa_call call{};
  call.struct_size = sizeof call;
  call.op = what.op;
  call.padding.scheme = what.scheme;
  if (what.op == MM_RSA_SIGN || what.scheme == MM_RSA_OAEP) call.padding.hash = MM_SHA256;
  call.count = count;
  call.input.count = count;
  call.input.data = inputs.data();
  call.input.size = inputs.size() / count;
  call.output = {output.data(), count, k, sizes.data()};
  call.item_status = statuses.data();
  require(ring.run(call) == MM_OK, "the call runs");
  declassify(statuses);
  declassify(sizes);
  declassify(output);
  return output;
}

/// A poisoned and a plain call give the same results, for schemes without randomness. Encryption, whose
/// padding is random, runs on poisoned messages.
void check_calls(const testing::TestPrimes& primes, const char* third, const Variant& variant) {
  mm_rsa_ring_options options{};
  options.variant = variant.name.c_str();
  options.threads = 1;
  const std::shared_ptr<const rsa::Key> keys[] = {make_key(primes, third)};
  const rsa::Ring plain(options, keys);
  // With few items, vectors hold items with different moduli; with many, the primes are prepared once.
  for (const std::size_t count : {1U, 5U}) {
    const std::size_t k = keys[0]->bytes();
    Bytes messages(count * 20);
    for (std::size_t i = 0; i < messages.size(); ++i) messages[i] = static_cast<std::uint8_t>(i * 7);
    const Bytes oaep = run(plain, {MM_RSA_ENCRYPT, MM_RSA_OAEP}, count, messages);
    const Bytes pkcs1v15 = run(plain, {MM_RSA_ENCRYPT, MM_RSA_PKCS1V15}, count, messages);
    Bytes rejected = pkcs1v15;
    for (std::size_t i = 0; i < count; ++i) rejected[i * k + k - 1] ^= 1;
    const std::pair<Call, const Bytes*> calls[] = {{{MM_RSA_SIGN, MM_RSA_PKCS1V15}, &messages},
                                                   {{MM_RSA_DECRYPT, MM_RSA_OAEP}, &oaep},
                                                   {{MM_RSA_DECRYPT, MM_RSA_PKCS1V15}, &rejected}};
    for (const auto& [call, inputs] : calls) {
      const Bytes expected = run(plain, call, count, *inputs);
      const std::shared_ptr<const rsa::Key> secret[] = {make_key(primes, third)};
      poison_private(*secret[0]);
      const rsa::Ring poisoned(options, secret);
      require(run(poisoned, call, count, *inputs) == expected, "the poisoned call gives the same");
    }
    poison(messages);
    for (const mm_rsa_scheme scheme : {MM_RSA_OAEP, MM_RSA_PKCS1V15}) {
      run(plain, {MM_RSA_ENCRYPT, scheme}, count, messages);
    }
  }
}

/// Padding is removed from encoded messages whose bytes are all secret, valid and invalid ones.
void check_padding() {
  crypto::Hasher sha256(MM_SHA256);
  crypto::Hmac hmac(MM_SHA256);
  const Bytes label_digest(32, 7);
  const Bytes ciphertext(128, 9);
  for (const bool good : {true, false}) {
    Bytes encoded(128, 0x33);
    encoded[0] = good ? 0 : 1;
    encoded[1] = 2;
    encoded[40] = 0;
    Bytes pkcs1v15 = encoded;
    Bytes oaep = encoded;
    std::uint64_t expected = rsa::decode_pkcs1v15_message(pkcs1v15, label_digest, ciphertext, hmac);
    Bytes secret = encoded;
    Bytes secret_digest = label_digest;
    poison(secret);
    poison(secret_digest);
    std::uint64_t size = rsa::decode_pkcs1v15_message(secret, secret_digest, ciphertext, hmac);
    VALGRIND_MAKE_MEM_DEFINED(&size, sizeof size);
    declassify(secret);
    require(size == expected && secret == pkcs1v15, "PKCS#1 v1.5 padding: the poisoned run gives the same");
    expected = rsa::decode_oaep(oaep, label_digest, sha256).size;
    secret = encoded;
    poison(secret);
    size = rsa::decode_oaep(secret, label_digest, sha256).size;
    VALGRIND_MAKE_MEM_DEFINED(&size, sizeof size);
    declassify(secret);
    require(size == expected && secret == oaep, "OAEP padding: the poisoned run gives the same");
  }
}

/// False for dpf52, whose results are wrong under valgrind, which rounds products to nearest whatever MXCSR
/// asks for; the check of results would reject all of them. Its powers are checked by secret_class.cpp.
bool computes_correctly_under_valgrind(const Variant& variant) {
  return variant.backend == Backend::cpu && variant.technique != "dpf52" &&
         hardware_obstacle(variant, catalogue("cpu").devices).empty();
}

}  // namespace

int main() {
  require(RUNNING_ON_VALGRIND != 0, "this program must run under valgrind");
  check_padding();
  for (const Variant& variant : registry()) {
    if (!computes_correctly_under_valgrind(variant)) continue;
    for (const testing::TestPrimes& primes : testing::kTestPrimes) {
      // Primes of one length, and of two.
      if (primes.bits == 1024 || primes.bits == 1536) check_calls(primes, nullptr, variant);
    }
    check_calls(testing::kTestPrimes[0], testing::kTestPrimes[2].p, variant);
    std::printf("RSA with %s: the poisoned calls agree with the plain ones\n", variant.name.c_str());
  }
  return 0;
}
