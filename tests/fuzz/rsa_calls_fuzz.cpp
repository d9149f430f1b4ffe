// SPDX-License-Identifier: Apache-2.0
// RSA calls: operations, paddings, views of byte strings and their mistakes. Signatures are verified by
// libcrypto, and its verdict on any signature is compared; ciphertexts are decrypted by libcrypto, and the
// other way round; the bare operations are compared with powers of libcrypto's numbers.
#include <openssl/core_names.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

#include <array>
#include <string>
#include <vector>

#include "fuzz/rsa_oracle.hpp"

namespace manymod::fuzz {
namespace {

constexpr std::size_t kKeys = 3;
constexpr std::size_t kPublicKey = 1;  // the key of the ring without private numbers
constexpr std::uint8_t kUntouched = 0xA5;
constexpr std::size_t kLongestMessage = 160;
// SHAKE is left out, with which libcrypto makes no signatures.
constexpr std::size_t kHashes = MM_SHAKE128;
constexpr std::array<const char*, kHashes> kHashNames{nullptr,    "SHA1",     "SHA224",     "SHA256",
                                                      "SHA384",   "SHA512",   "SHA512-224", "SHA512-256",
                                                      "SHA3-224", "SHA3-256", "SHA3-384",   "SHA3-512"};

// libcrypto's form of a test key.
Crypto<EVP_PKEY> oracle_key(const KeyNumbers& numbers) {
  constexpr std::array<const char*, kParts> kNames{
      OSSL_PKEY_PARAM_RSA_N,         OSSL_PKEY_PARAM_RSA_E,           OSSL_PKEY_PARAM_RSA_D,
      OSSL_PKEY_PARAM_RSA_FACTOR1,   OSSL_PKEY_PARAM_RSA_FACTOR2,     OSSL_PKEY_PARAM_RSA_EXPONENT1,
      OSSL_PKEY_PARAM_RSA_EXPONENT2, OSSL_PKEY_PARAM_RSA_COEFFICIENT1};
  OSSL_PARAM_BLD* const build = OSSL_PARAM_BLD_new();
  for (std::size_t i = 0; i < kParts; ++i)
    did(OSSL_PARAM_BLD_push_BN(build, kNames[i], numbers.part[i].get()));
  OSSL_PARAM* const params = OSSL_PARAM_BLD_to_param(build);
  const Crypto<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr));
  EVP_PKEY* key = nullptr;
  did(EVP_PKEY_fromdata_init(context.get()));
  did(EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_KEYPAIR, params));
  OSSL_PARAM_free(params);
  OSSL_PARAM_BLD_free(build);
  return Crypto<EVP_PKEY>(key);
}

struct Keys {
  std::array<KeyNumbers, kKeys> numbers{KeyNumbers(0), KeyNumbers(1), KeyNumbers(2)};
  std::array<Crypto<EVP_PKEY>, kKeys> oracle{oracle_key(numbers[0]), oracle_key(numbers[1]),
                                             oracle_key(numbers[2])};
  Ring ring;

  Keys() {
    std::array<mm_rsa_key*, kKeys> keys{};
    for (std::size_t i = 0; i < kKeys; ++i) {
      std::array<Bytes, kParts> bytes;
      for (std::size_t j = 0; j < kParts; ++j) bytes[j] = bytes_of(numbers[i].part[j]);
      const auto part = [&](Part at) { return mm_bytes{bytes[at].data(), bytes[at].size()}; };
      mm_rsa_numbers given{};
      given.struct_size = sizeof given;
      given.n = part(kN);
      given.e = part(kE);
      if (i != kPublicKey) {
        given.d = part(kD);
        given.p = part(kP);
        given.q = part(kQ);
      }
      require(mm_rsa_key_create(&given, &keys[i]) == MM_OK, mm_last_error());
    }
    mm_rsa_ring* created = nullptr;
    require(mm_rsa_ring_create(nullptr, keys.data(), kKeys, &created) == MM_OK, mm_last_error());
    ring.reset(created);
    for (mm_rsa_key* key : keys) mm_rsa_key_destroy(key);
  }
  std::size_t bytes(std::size_t key) const {
    return static_cast<std::size_t>(BN_num_bytes(numbers[key].part[kN].get()));
  }
};

const Keys& keys() {
  static const Keys the;
  return the;
}

const EVP_MD* oracle_hash(mm_hash hash) { return EVP_get_digestbyname(kHashNames[hash]); }

bool is_signature(mm_rsa_op op) { return op == MM_RSA_SIGN || op == MM_RSA_VERIFY; }
bool is_private(mm_rsa_op op) { return op == MM_RSA_PRIVATE || op == MM_RSA_SIGN || op == MM_RSA_DECRYPT; }
bool is_bare(mm_rsa_op op) { return op == MM_RSA_PUBLIC || op == MM_RSA_PRIVATE; }

// Byte strings in one of the three forms of mm_bytes_view. The arrays are exactly as long as needed.
class Items {
 public:
  Items(Choices& choices, std::vector<Bytes> items) : items_(std::move(items)) {
    view_.count = items_.size();
    switch (choices.below(3)) {
      case 0:
        for (const Bytes& item : items_) pointers_.push_back({item.data(), item.size()});
        view_.items = pointers_.data();
        return;
      case 1:
        offsets_.push_back(0);
        for (const Bytes& item : items_) {
          data_.insert(data_.end(), item.begin(), item.end());
          offsets_.push_back(static_cast<std::int64_t>(data_.size()));
        }
        view_.data = data_.data();
        view_.offsets = offsets_.data();
        return;
      default:
        take_one_size(choices.below(4));
        return;
    }
  }
  Items(const Items&) = delete;
  Items& operator=(const Items&) = delete;

  const Bytes& operator[](std::size_t i) const { return items_[items_.size() == 1 ? 0 : i]; }
  const mm_bytes_view& view() const { return view_; }

 private:
  // An array of items of one size, that of the shortest.
  void take_one_size(std::size_t gap) {
    if (items_.empty()) return;
    std::size_t size = items_[0].size();
    for (const Bytes& item : items_) size = std::min(size, item.size());
    for (std::size_t i = 0; i < items_.size(); ++i) {
      items_[i].resize(size);
      data_.insert(data_.end(), items_[i].begin(), items_[i].end());
      if (i + 1 < items_.size()) data_.resize(data_.size() + gap);
    }
    view_.data = data_.data();
    view_.size = size;
    view_.stride = size + gap;
  }

  std::vector<Bytes> items_;
  std::vector<mm_bytes> pointers_;
  std::vector<std::int64_t> offsets_;
  Bytes data_;
  mm_bytes_view view_{};
};

void set_padding(EVP_PKEY_CTX* context, const mm_rsa_padding& padding) {
  const mm_hash mgf = padding.mgf_hash == MM_HASH_NONE ? padding.hash : padding.mgf_hash;
  switch (padding.scheme) {
    case MM_RSA_RAW:
    case MM_RSA_PKCS1V15:
      did(EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING));
      return;
    case MM_RSA_PSS:
      did(EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING));
      // The values of MM_RSA_SALT_* are libcrypto's.
      did(EVP_PKEY_CTX_set_rsa_pss_saltlen(context, padding.salt_length));
      did(EVP_PKEY_CTX_set_rsa_mgf1_md(context, oracle_hash(mgf)));
      return;
    case MM_RSA_OAEP: {
      did(EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING));
      did(EVP_PKEY_CTX_set_rsa_oaep_md(context, oracle_hash(padding.hash)));
      did(EVP_PKEY_CTX_set_rsa_mgf1_md(context, oracle_hash(mgf)));
      if (padding.label.size == 0) return;
      void* const label = OPENSSL_memdup(padding.label.data, padding.label.size);
      did(EVP_PKEY_CTX_set0_rsa_oaep_label(context, label, static_cast<int>(padding.label.size)));
      return;
    }
  }
}

Bytes digest_of(const Bytes& message, const mm_rsa_padding& padding) {
  if (padding.prehashed != 0) return message;
  Bytes digest(mm_hash_size(padding.hash));
  did(EVP_Digest(message.data(), message.size(), digest.data(), nullptr, oracle_hash(padding.hash), nullptr));
  return digest;
}

Crypto<EVP_PKEY_CTX> oracle_context(std::size_t key) {
  return Crypto<EVP_PKEY_CTX>(EVP_PKEY_CTX_new(keys().oracle[key].get(), nullptr));
}

bool oracle_verifies(std::size_t key, const Bytes& message, const Bytes& signature,
                     const mm_rsa_padding& padding) {
  const Crypto<EVP_PKEY_CTX> context = oracle_context(key);
  did(EVP_PKEY_verify_init(context.get()));
  did(EVP_PKEY_CTX_set_signature_md(context.get(), oracle_hash(padding.hash)));
  set_padding(context.get(), padding);
  const Bytes digest = digest_of(message, padding);
  return EVP_PKEY_verify(context.get(), signature.data(), signature.size(), digest.data(), digest.size()) ==
         1;
}

// Encrypt or decrypt; nothing of its result is used where it fails.
bool oracle_crypts(std::size_t key, const Bytes& input, const mm_rsa_padding& padding, bool encrypt,
                   Bytes& output) {
  const Crypto<EVP_PKEY_CTX> context = oracle_context(key);
  did(encrypt ? EVP_PKEY_encrypt_init(context.get()) : EVP_PKEY_decrypt_init(context.get()));
  set_padding(context.get(), padding);
  output.resize(keys().bytes(key));
  std::size_t size = output.size();
  const auto crypt = encrypt ? EVP_PKEY_encrypt : EVP_PKEY_decrypt;
  if (crypt(context.get(), output.data(), &size, input.data(), input.size()) != 1) return false;
  output.resize(size);
  return true;
}

class Call {
 public:
  explicit Call(Choices& choices)
      : op_(static_cast<mm_rsa_op>(choices.below(6))), count_(choices.below(5)), label_(choices.bytes(8)) {
    call_.struct_size = sizeof call_;
    call_.op = op_;
    call_.count = count_;
    choose_padding(choices);
    choose_keys(choices);
    std::vector<Bytes> inputs(choices.one_in(4) ? 1 : count_);
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = choose_input(choices, key_of(i));
    input_ = std::make_unique<Items>(choices, std::move(inputs));
    call_.input = input_->view();
    if (op_ == MM_RSA_VERIFY) choose_signatures(choices);
    choose_outputs(choices);
    if (choices.one_in(4)) make_mistake(choices);
  }

  void run() {
    const mm_status status = mm_rsa_run(keys().ring.get(), &call_);
    if (ran_out_of_memory(status == MM_ERR_MEMORY)) return;
    const std::string said = std::string("returned ") + mm_status_name(status) + ": " + mm_last_error();
    if (error_ != MM_OK) {
      require(status == error_, said + "; expected " + mm_status_name(error_));
      for (const std::uint8_t byte : output_) require(byte == kUntouched, "a refused call wrote output");
      return;
    }
    require(status == MM_OK || status == MM_ERR_ITEMS, said);
    bool any_bad = false;
    for (std::size_t i = 0; i < count_; ++i) {
      if (statuses_[i] == MM_OK) {
        check_good(i);
      } else {
        // A signature of another length was judged: it is not valid.
        any_bad = any_bad || statuses_[i] != MM_ITEM_RSA_SIGNATURE_LENGTH;
        check_bad(i);
      }
    }
    require(any_bad == (status == MM_ERR_ITEMS), said);
  }

 private:
  std::size_t key_of(std::size_t i) const { return key_indices_.empty() ? 0 : key_indices_[i]; }
  bool has_key(std::size_t i) const {
    return key_of(i) < kKeys && !(is_private(op_) && key_of(i) == kPublicKey);
  }
  std::span<const std::uint8_t> output(std::size_t i) const {
    return std::span(output_).subspan(i * call_.output.stride, keys().bytes(key_of(i)));
  }

  void choose_padding(Choices& choices) {
    mm_rsa_padding& padding = call_.padding;
    padding.hash = static_cast<mm_hash>(1 + choices.below(kHashes - 1));
    padding.mgf_hash = static_cast<mm_hash>(choices.one_in(4) ? choices.below(kHashes) : 0);
    padding.label = {label_.data(), label_.size()};
    if (is_bare(op_)) {
      padding.scheme = MM_RSA_RAW;
    } else if (choices.one_in(2)) {
      padding.scheme = MM_RSA_PKCS1V15;
    } else {
      padding.scheme = is_signature(op_) ? MM_RSA_PSS : MM_RSA_OAEP;
    }
    const std::array<int, 4> salts{MM_RSA_SALT_DIGEST, MM_RSA_SALT_MAX, static_cast<int>(choices.below(100)),
                                   op_ == MM_RSA_VERIFY ? MM_RSA_SALT_AUTO : 0};
    padding.salt_length = choices.among(std::span<const int>(salts));
    if (is_signature(op_)) padding.prehashed = choices.one_in(3) ? 1 : 0;
  }

  void choose_keys(Choices& choices) {
    if (choices.one_in(3)) return;
    for (std::size_t i = 0; i < count_; ++i) {
      key_indices_.push_back(
          static_cast<std::uint32_t>(choices.below(choices.one_in(8) ? kKeys + 1 : kKeys)));
    }
    call_.key = key_indices_.data();
  }

  Bytes choose_input(Choices& choices, std::size_t key) {
    const mm_rsa_padding& padding = call_.padding;
    if (is_signature(op_) && padding.prehashed != 0 && !choices.one_in(8)) {
      return Bytes(mm_hash_size(padding.hash), choices.byte());
    }
    if (op_ == MM_RSA_DECRYPT && key < kKeys && !choices.one_in(4)) {
      Bytes ciphertext;
      if (oracle_crypts(key, choices.bytes(20), padding, true, ciphertext)) return ciphertext;
    }
    LimbSource source(choices.word());
    Bytes bytes(choices.one_in(2) && key < kKeys ? keys().bytes(key) : choices.below(kLongestMessage));
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(source.limb());
    return bytes;
  }

  // Signatures by the library itself, which are right, and changed ones.
  void choose_signatures(Choices& choices) {
    std::vector<Bytes> signatures(count_);
    for (std::size_t i = 0; i < count_; ++i) {
      if (key_of(i) >= kKeys || choices.one_in(4)) {
        signatures[i] = choices.bytes(kLongestMessage);
        continue;
      }
      const Crypto<EVP_PKEY_CTX> context = oracle_context(key_of(i));
      mm_rsa_padding padding = call_.padding;
      if (padding.salt_length == MM_RSA_SALT_AUTO) padding.salt_length = MM_RSA_SALT_DIGEST;
      signatures[i].resize(keys().bytes(key_of(i)));
      std::size_t size = signatures[i].size();
      const Bytes digest = digest_of((*input_)[i], padding);
      did(EVP_PKEY_sign_init(context.get()));
      did(EVP_PKEY_CTX_set_signature_md(context.get(), oracle_hash(padding.hash)));
      set_padding(context.get(), padding);
      if (EVP_PKEY_sign(context.get(), signatures[i].data(), &size, digest.data(), digest.size()) != 1)
        continue;
      if (choices.one_in(3))
        signatures[i][choices.below(size)] ^= static_cast<std::uint8_t>(1U << choices.below(8));
    }
    signature_ = std::make_unique<Items>(choices, std::move(signatures));
    call_.signature = signature_->view();
  }

  void choose_outputs(Choices& choices) {
    statuses_.assign(count_, kUntouched);
    call_.item_status = statuses_.data();
    if (op_ == MM_RSA_VERIFY) {
      valid_.assign(count_, kUntouched);
      call_.valid = valid_.data();
      return;
    }
    const std::size_t longest = std::max({keys().bytes(0), keys().bytes(1), keys().bytes(2)});
    const std::size_t stride = longest + choices.below(4);
    output_.assign(count_ * stride, kUntouched);
    sizes_.assign(count_, 0);
    call_.output = {output_.data(), count_, stride,
                    op_ == MM_RSA_DECRYPT || choices.one_in(2) ? sizes_.data() : nullptr};
  }

  void expect(bool made, mm_status error) {
    if (made && count_ > 0) error_ = error;
  }

  void make_mistake(Choices& choices) {
    const bool writes = op_ != MM_RSA_VERIFY;
    switch (choices.below(10)) {
      case 0:
        call_.input.count = count_ + 2;
        return expect(true, MM_ERR_ARGUMENT);
      case 1:
        if (writes) call_.output.data = nullptr;
        return expect(writes, MM_ERR_NULL);
      case 2:
        if (writes) call_.output.count = count_ + 1;
        return expect(writes, MM_ERR_ARGUMENT);
      case 3:
        if (writes) call_.output.stride = 100;
        return expect(writes && has_any_key(), MM_ERR_ARGUMENT);
      case 4:
        if (!writes) call_.valid = nullptr;
        return expect(!writes, MM_ERR_NULL);
      case 5:
        call_.padding.scheme = is_bare(op_) ? MM_RSA_PSS : MM_RSA_RAW;
        return expect(true, MM_ERR_ARGUMENT);
      case 6:
        call_.padding.hash = MM_HASH_NONE;
        return expect(is_signature(op_) || call_.padding.scheme == MM_RSA_OAEP, MM_ERR_ARGUMENT);
      case 7:
        call_.padding.salt_length = -4 - static_cast<int>(choices.below(9));
        return expect(call_.padding.scheme == MM_RSA_PSS, MM_ERR_ARGUMENT);
      case 8:
        call_.struct_size = choices.below(offsetof(mm_rsa_call, progress));
        error_ = MM_ERR_ARGUMENT;
        return;
      default:
        if (op_ == MM_RSA_DECRYPT) call_.output.sizes = nullptr;
        return expect(op_ == MM_RSA_DECRYPT, MM_ERR_NULL);
    }
  }

  bool has_any_key() const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (key_of(i) < kKeys) return true;
    }
    return false;
  }

  void check_good(std::size_t i) const {
    require(has_key(i), "an item without a key is ok");
    const std::size_t key = key_of(i);
    const Bytes& input = (*input_)[i];
    if (op_ == MM_RSA_VERIFY) {
      require(valid_[i] == (oracle_verifies(key, input, (*signature_)[i], call_.padding) ? 1 : 0),
              "another verdict than libcrypto's on signature " + std::to_string(i));
      return;
    }
    const Bytes out(output(i).begin(), output(i).end());
    for (std::size_t at = out.size(); at < call_.output.stride; ++at) {
      require(output_[i * call_.output.stride + at] == kUntouched, "output behind an item");
    }
    Bytes back;
    switch (op_) {
      case MM_RSA_PUBLIC:
      case MM_RSA_PRIVATE: {
        const auto& part = keys().numbers[key].part;
        const Number expected = power(number_of_bytes(input), part[op_ == MM_RSA_PUBLIC ? kE : kD], part[kN]);
        return require(same(number_of_bytes(out), expected), "a wrong power");
      }
      case MM_RSA_SIGN:
        return require(oracle_verifies(key, input, out, call_.padding), "a signature that is not valid");
      case MM_RSA_ENCRYPT:
        require(oracle_crypts(key, out, call_.padding, false, back), "a ciphertext that is not valid");
        return require(back == input, "a ciphertext of another message");
      default:
        // libcrypto before 3.2 refuses what PKCS#1 v1.5 implicitly rejects.
        if (!oracle_crypts(key, input, call_.padding, false, back)) {
          return require(call_.padding.scheme == MM_RSA_PKCS1V15, "an invalid ciphertext was decrypted");
        }
        back.resize(out.size());
        require(back == out, "another message than libcrypto's");
    }
  }

  void check_bad(std::size_t i) const {
    const mm_status status = static_cast<mm_status>(statuses_[i]);
    const std::string said = std::string("item ") + std::to_string(i) + " is " + mm_status_name(status);
    require((status == MM_ITEM_RSA_KEY) == !has_key(i), said);
    if (op_ == MM_RSA_VERIFY) require(valid_[i] == 0, said + " and valid");
    if (status == MM_ITEM_RSA_KEY) return;
    const std::size_t key = key_of(i);
    const Bytes& input = (*input_)[i];
    if (op_ != MM_RSA_VERIFY) {
      for (const std::uint8_t byte : output(i)) require(byte == 0, said + " and has output");
    }
    // A signature of another length than the modulus is not valid, and may have a status that says so.
    if (op_ == MM_RSA_VERIFY && (*signature_)[i].size() != keys().bytes(key)) return;
    Bytes ignored;
    switch (status) {
      case MM_ITEM_RSA_RANGE:
        return require(BN_cmp(number_of_bytes(input).get(), keys().numbers[key].part[kN].get()) >= 0, said);
      case MM_ITEM_RSA_DECRYPTION:
        return require(!oracle_crypts(key, input, call_.padding, false, ignored), said);
      case MM_ITEM_RSA_LENGTH:
        if (op_ == MM_RSA_VERIFY) return require(call_.padding.prehashed != 0, said);
        if (is_bare(op_)) return require(input.size() > keys().bytes(key), said);
        if (op_ == MM_RSA_DECRYPT) return check_too_short(key, input, said);
        return;
      default:
        require(false, said);
    }
  }

  // A ciphertext of another length than the modulus, or a key that is too short for the hash of the padding.
  void check_too_short(std::size_t key, const Bytes& ciphertext, const std::string& said) const {
    const std::size_t overhead =
        call_.padding.scheme == MM_RSA_OAEP ? 2 * mm_hash_size(call_.padding.hash) + 2 : 11;
    require(ciphertext.size() != keys().bytes(key) || keys().bytes(key) < overhead, said);
  }

  mm_rsa_op op_;
  std::size_t count_;
  Bytes label_;
  std::vector<std::uint32_t> key_indices_;
  std::unique_ptr<Items> input_, signature_;
  Bytes statuses_, valid_, output_;
  std::vector<std::size_t> sizes_;
  mm_rsa_call call_{};
  mm_status error_ = MM_OK;
};

}  // namespace
}  // namespace manymod::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  manymod::fuzz::Choices choices(data, size);
  manymod::fuzz::Call call(choices);
  call.run();
  return 0;
}
