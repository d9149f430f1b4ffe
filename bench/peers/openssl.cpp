// SPDX-License-Identifier: Apache-2.0
// OpenSSL's libcrypto: modular powers in constant time, alone and as a pair, and RSA: the private
// operation, signatures and their verification.
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "operands.hpp"

namespace peers {
namespace {

template <class T, auto Free>
using Owned = std::unique_ptr<T, Deleter<Free>>;
using Number = Owned<BIGNUM, BN_clear_free>;
using Montgomery = Owned<BN_MONT_CTX, BN_MONT_CTX_free>;
using Key = Owned<EVP_PKEY, EVP_PKEY_free>;

void require(bool ok) {
  if (!ok) throw std::runtime_error("OpenSSL reports an error");
}

Number make_number(const Words& words) {
  const auto bytes = to_bytes(words);
  Number number(BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr));
  require(number != nullptr);
  BN_set_flags(number.get(), BN_FLG_CONSTTIME);
  return number;
}

Words words_of(const BIGNUM* number, unsigned bits) {
  std::vector<unsigned char> bytes(bits / 8);
  require(BN_bn2binpad(number, bytes.data(), static_cast<int>(bytes.size())) > 0);
  return from_bytes(bytes);
}

/// A power with everything that depends on the modulus alone prepared.
struct Item {
  Number base, exponent, modulus, result;
  Montgomery montgomery;
};

struct Powers {
  Owned<BN_CTX, BN_CTX_free> context{BN_CTX_new()};
  std::vector<Item> items;
  std::size_t next = 0, done = 0;  // done: items that have a result

  explicit Powers(const Operands& operands) {
    for (const Power& power : operands.powers) {
      Item& item =
          items.emplace_back(make_number(power.base), make_number(power.exponent), make_number(power.modulus),
                             Number(BN_new()), Montgomery(BN_MONT_CTX_new()));
      require(BN_MONT_CTX_set(item.montgomery.get(), item.modulus.get(), context.get()) == 1);
    }
  }

  Item& take() {
    Item& item = items[next];
    done = std::max(done, next + 1);
    next = (next + 1) % items.size();
    return item;
  }

  void run_one() {
    Item& a = take();
    require(BN_mod_exp_mont_consttime(a.result.get(), a.base.get(), a.exponent.get(), a.modulus.get(),
                                      context.get(), a.montgomery.get()) == 1);
  }

  void run_pair() {
    Item &a = take(), &b = take();
    require(BN_mod_exp_mont_consttime_x2(a.result.get(), a.base.get(), a.exponent.get(), a.modulus.get(),
                                         a.montgomery.get(), b.result.get(), b.base.get(), b.exponent.get(),
                                         b.modulus.get(), b.montgomery.get(), context.get()) == 1);
  }

  [[nodiscard]] std::vector<Words> answers(unsigned bits) const {
    std::vector<Words> all;
    for (std::size_t i = 0; i < done; ++i) all.push_back(words_of(items[i].result.get(), bits));
    return all;
  }
};

Key make_key(const Rsa& rsa) {
  const std::pair<const char*, const Words*> parts[] = {
      {OSSL_PKEY_PARAM_RSA_N, &rsa.n},          {OSSL_PKEY_PARAM_RSA_E, &rsa.e},
      {OSSL_PKEY_PARAM_RSA_D, &rsa.d},          {OSSL_PKEY_PARAM_RSA_FACTOR1, &rsa.p},
      {OSSL_PKEY_PARAM_RSA_FACTOR2, &rsa.q},    {OSSL_PKEY_PARAM_RSA_EXPONENT1, &rsa.dp},
      {OSSL_PKEY_PARAM_RSA_EXPONENT2, &rsa.dq}, {OSSL_PKEY_PARAM_RSA_COEFFICIENT1, &rsa.qinv},
  };
  const Owned<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free> builder(OSSL_PARAM_BLD_new());
  std::vector<Number> numbers;
  for (const auto& [name, words] : parts) {
    numbers.push_back(make_number(*words));
    require(OSSL_PARAM_BLD_push_BN(builder.get(), name, numbers.back().get()) == 1);
  }
  const Owned<OSSL_PARAM, OSSL_PARAM_free> parameters(OSSL_PARAM_BLD_to_param(builder.get()));
  const Owned<EVP_PKEY_CTX, EVP_PKEY_CTX_free> context(EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr));
  EVP_PKEY* key = nullptr;
  require(EVP_PKEY_fromdata_init(context.get()) == 1 &&
          EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_KEYPAIR, parameters.get()) == 1);
  return Key(key);
}

/// Decryption without padding: the private operation with the blinding and the check that belong to it.
struct RsaPrivate {
  Key key;
  Owned<EVP_PKEY_CTX, EVP_PKEY_CTX_free> context;
  std::vector<std::vector<unsigned char>> inputs, outputs;
  std::size_t next = 0, done = 0;

  explicit RsaPrivate(const Operands& operands)
      : key(make_key(operands.rsa.front())), context(EVP_PKEY_CTX_new(key.get(), nullptr)) {
    require(EVP_PKEY_decrypt_init(context.get()) == 1 &&
            EVP_PKEY_CTX_set_rsa_padding(context.get(), RSA_NO_PADDING) == 1);
    for (const Rsa& rsa : operands.rsa) {
      inputs.push_back(to_bytes(rsa.input));
      outputs.emplace_back(inputs.back().size());
    }
  }

  void run() {
    std::size_t size = outputs[next].size();
    require(EVP_PKEY_decrypt(context.get(), outputs[next].data(), &size, inputs[next].data(),
                             inputs[next].size()) == 1);
    done = std::max(done, next + 1);
    next = (next + 1) % inputs.size();
  }
};

/// Signatures with the first item's key and SHA-256, each made and verified by a call of its own.
struct RsaSignatures {
  Key key;
  int padding;
  Owned<EVP_MD_CTX, EVP_MD_CTX_free> context{EVP_MD_CTX_new()};
  std::vector<std::vector<unsigned char>> messages, signatures;
  std::size_t next = 0, done = 0;
  std::vector<Words> verdicts;

  RsaSignatures(const Operands& operands, int rsa_padding)
      : key(make_key(operands.rsa.front())), padding(rsa_padding) {
    for (const Rsa& rsa : operands.rsa) {
      messages.push_back(message_of(rsa));
      signatures.emplace_back(operands.bits / 8);
    }
  }

  void set_padding(EVP_PKEY_CTX* options) const {
    require(EVP_PKEY_CTX_set_rsa_padding(options, padding) == 1);
    if (padding == RSA_PKCS1_PSS_PADDING) {
      require(EVP_PKEY_CTX_set_rsa_pss_saltlen(options, RSA_PSS_SALTLEN_DIGEST) == 1);
    }
  }

  std::size_t take() {
    const std::size_t item = next;
    done = std::max(done, item + 1);
    next = (next + 1) % messages.size();
    return item;
  }

  void sign() {
    const std::size_t item = take();
    EVP_PKEY_CTX* options = nullptr;
    std::size_t size = signatures[item].size();
    require(EVP_DigestSignInit(context.get(), &options, EVP_sha256(), nullptr, key.get()) == 1);
    set_padding(options);
    require(EVP_DigestSign(context.get(), signatures[item].data(), &size, messages[item].data(),
                           messages[item].size()) == 1);
  }

  void verify() {
    const std::size_t item = take();
    EVP_PKEY_CTX* options = nullptr;
    require(EVP_DigestVerifyInit(context.get(), &options, EVP_sha256(), nullptr, key.get()) == 1);
    set_padding(options);
    const int good = EVP_DigestVerify(context.get(), signatures[item].data(), signatures[item].size(),
                                      messages[item].data(), messages[item].size());
    verdicts[item] = {good == 1 ? std::uint64_t{1} : std::uint64_t{0}};
  }

  /// Signatures to be verified, all of them.
  void sign_all() {
    for (std::size_t i = 0; i < messages.size(); ++i) sign();
    verdicts.resize(messages.size());
    done = 0;
  }

  [[nodiscard]] std::vector<Words> made() const {
    std::vector<Words> all;
    for (std::size_t i = 0; i < done; ++i) all.push_back(from_bytes(signatures[i]));
    return all;
  }
  [[nodiscard]] std::vector<Words> verified() const {
    return {verdicts.begin(), verdicts.begin() + static_cast<std::ptrdiff_t>(done)};
  }
};

void add_signatures(std::vector<Case>& cases, const Operands& operands, const std::string& name,
                    int padding) {
  auto signer = std::make_shared<RsaSignatures>(operands, padding);
  cases.push_back({"OpenSSL", "RSA sign " + name, operands.bits, 1, [signer] { signer->sign(); },
                   [signer] { return signer->made(); }});
  auto verifier = std::make_shared<RsaSignatures>(operands, padding);
  verifier->sign_all();
  cases.push_back({"OpenSSL", "RSA verify " + name, operands.bits, 1, [verifier] { verifier->verify(); },
                   [verifier] { return verifier->verified(); }});
}

}  // namespace

std::string openssl_version() { return OpenSSL_version(OPENSSL_VERSION_STRING); }

std::vector<Case> openssl_cases(const Operands& operands) {
  std::vector<Case> cases;
  if (!operands.powers.empty()) {
    auto one = std::make_shared<Powers>(operands);
    const unsigned bits = operands.bits;
    cases.push_back({"OpenSSL", "BN_mod_exp_mont_consttime", bits, 1, [one] { one->run_one(); },
                     [one, bits] { return one->answers(bits); }});
    if (operands.powers.size() % 2 == 0) {
      auto pair = std::make_shared<Powers>(operands);
      cases.push_back({"OpenSSL", "BN_mod_exp_mont_consttime_x2", bits, 2, [pair] { pair->run_pair(); },
                       [pair, bits] { return pair->answers(bits); }});
    }
  }
  if (!operands.rsa.empty()) {
    auto rsa = std::make_shared<RsaPrivate>(operands);
    cases.push_back({"OpenSSL", "RSA private operation", operands.bits, 1, [rsa] { rsa->run(); },
                     [rsa] {
                       std::vector<Words> answers;
                       for (std::size_t i = 0; i < rsa->done; ++i)
                         answers.push_back(from_bytes(rsa->outputs[i]));
                       return answers;
                     }});
    add_signatures(cases, operands, kPkcs1v15, RSA_PKCS1_PADDING);
    add_signatures(cases, operands, kPss, RSA_PKCS1_PSS_PADDING);
  }
  return cases;
}

}  // namespace peers
