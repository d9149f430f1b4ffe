// SPDX-License-Identifier: Apache-2.0
#include "server/token_key.hpp"

#include <dlfcn.h>
#include <p11-kit/pkcs11.h>

#include <array>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

namespace manymod::signd {
namespace {

void require(CK_RV result, const char* function) {
  if (result != CKR_OK)
    throw std::runtime_error(std::string(function) + " failed with " + std::to_string(result));
}

/// DER of numbers and strings, as far as private keys have them.
class Der {
 public:
  void sequence(const Der& content) { put(0x30, content.bytes_.span()); }
  void octets(ByteSpan content) { put(0x04, content); }
  void tagged(ByteSpan content) { put(0xA0, content); }
  /// An unsigned number, big-endian.
  void integer(ByteSpan number) {
    while (number.size() > 1 && number.front() == 0) number = number.subspan(1);
    SecretBytes content;
    if (number.empty() || number.front() >= 0x80) content.append(std::array<std::uint8_t, 1>{0});
    content.append(number);
    put(0x02, content.span());
  }
  [[nodiscard]] SecretBytes take() { return std::move(bytes_); }

 private:
  void put(std::uint8_t tag, ByteSpan content) {
    Bytes head{tag};
    const std::size_t size = content.size();
    if (size >= 0x100) {
      head.insert(head.end(), {0x82, static_cast<std::uint8_t>(size >> 8)});
    } else if (size >= 0x80) {
      head.push_back(0x81);
    }
    head.push_back(static_cast<std::uint8_t>(size));
    bytes_.append(head);
    bytes_.append(content);
  }

  SecretBytes bytes_;
};

/// A module, from its initialisation to its end.
class TokenModule {
 public:
  explicit TokenModule(const std::string& path) : library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr)
      throw std::runtime_error(std::string("the module cannot be loaded: ") + dlerror());
    const auto list = reinterpret_cast<CK_C_GetFunctionList>(dlsym(library_, "C_GetFunctionList"));
    if (list == nullptr || list(&functions_) != CKR_OK) fail("not a module of PKCS#11");
    CK_C_INITIALIZE_ARGS arguments{};
    arguments.flags = CKF_OS_LOCKING_OK;
    if (functions_->C_Initialize(&arguments) != CKR_OK) fail("the module cannot be initialised");
  }
  ~TokenModule() {
    functions_->C_Finalize(nullptr);
    dlclose(library_);
  }
  TokenModule(const TokenModule&) = delete;
  TokenModule& operator=(const TokenModule&) = delete;
  CK_FUNCTION_LIST* operator->() const { return functions_; }

  /// The slot whose token has this label.
  [[nodiscard]] CK_SLOT_ID slot_of(const std::string& label) const {
    CK_ULONG count = 0;
    require(functions_->C_GetSlotList(CK_TRUE, nullptr, &count), "C_GetSlotList");
    std::vector<CK_SLOT_ID> slots(count);
    require(functions_->C_GetSlotList(CK_TRUE, slots.data(), &count), "C_GetSlotList");
    slots.resize(count);
    for (const CK_SLOT_ID slot : slots) {
      CK_TOKEN_INFO info{};
      if (functions_->C_GetTokenInfo(slot, &info) != CKR_OK) continue;
      std::string found(reinterpret_cast<const char*>(info.label), sizeof info.label);
      found.erase(found.find_last_not_of(' ') + 1);
      if (found == label) return slot;
    }
    throw std::runtime_error("there is no token " + label);
  }

 private:
  [[noreturn]] void fail(const char* why) {
    dlclose(library_);
    throw std::runtime_error(why);
  }

  void* library_;
  CK_FUNCTION_LIST* functions_ = nullptr;
};

/// A session of a user who has given the PIN.
class TokenSession {
 public:
  TokenSession(const TokenModule& module, CK_SLOT_ID slot, const std::string& pin_file) : module_(module) {
    require(module->C_OpenSession(slot, CKF_SERIAL_SESSION, nullptr, nullptr, &session_), "C_OpenSession");
    if (pin_file.empty()) return;
    SecretBytes pin = read_secret_file(pin_file);
    const std::size_t size = first_line(pin.text()).size();
    const CK_RV result = module->C_Login(session_, CKU_USER, pin.data(), size);
    if (result == CKR_OK || result == CKR_USER_ALREADY_LOGGED_IN) return;
    module->C_CloseSession(session_);
    throw std::runtime_error("the token refuses the PIN");
  }
  ~TokenSession() { module_->C_CloseSession(session_); }
  TokenSession(const TokenSession&) = delete;
  TokenSession& operator=(const TokenSession&) = delete;

  /// The one private key with this label.
  [[nodiscard]] CK_OBJECT_HANDLE private_key(std::string label) const {
    CK_OBJECT_CLASS kind = CKO_PRIVATE_KEY;
    std::array<CK_ATTRIBUTE, 2> wanted{
        {{CKA_CLASS, &kind, sizeof kind}, {CKA_LABEL, label.data(), label.size()}}};
    std::array<CK_OBJECT_HANDLE, 2> found{};
    CK_ULONG count = 0;
    require(module_->C_FindObjectsInit(session_, wanted.data(), wanted.size()), "C_FindObjectsInit");
    const CK_RV result = module_->C_FindObjects(session_, found.data(), found.size(), &count);
    module_->C_FindObjectsFinal(session_);
    require(result, "C_FindObjects");
    if (count == 1) return found[0];
    throw std::runtime_error(
        (count == 0 ? "the token has no private key " : "the token has several private keys ") + label);
  }

  [[nodiscard]] SecretBytes attribute(CK_OBJECT_HANDLE object, CK_ATTRIBUTE_TYPE type) const {
    CK_ATTRIBUTE wanted{type, nullptr, 0};
    const CK_RV result = module_->C_GetAttributeValue(session_, object, &wanted, 1);
    if (result == CKR_ATTRIBUTE_SENSITIVE) {
      throw std::runtime_error("the token does not give this key away, and manymod-signd computes by itself");
    }
    require(result, "C_GetAttributeValue");
    constexpr CK_ULONG kMost = 4096;
    if (wanted.ulValueLen > kMost) throw std::runtime_error("the token has no such attribute of the key");
    SecretBytes value(wanted.ulValueLen);
    wanted.pValue = value.data();
    require(module_->C_GetAttributeValue(session_, object, &wanted, 1), "C_GetAttributeValue");
    return value;
  }

  [[nodiscard]] CK_KEY_TYPE type_of(CK_OBJECT_HANDLE object) const {
    CK_KEY_TYPE type = 0;
    CK_ATTRIBUTE wanted{CKA_KEY_TYPE, &type, sizeof type};
    require(module_->C_GetAttributeValue(session_, object, &wanted, 1), "C_GetAttributeValue");
    return type;
  }

 private:
  const TokenModule& module_;
  CK_SESSION_HANDLE session_ = 0;
};

void add_rsa_key(const TokenSession& session, CK_OBJECT_HANDLE key, Der& content) {
  content.integer({});  // version: two primes
  for (const CK_ATTRIBUTE_TYPE type : {CKA_MODULUS, CKA_PUBLIC_EXPONENT, CKA_PRIVATE_EXPONENT, CKA_PRIME_1,
                                       CKA_PRIME_2, CKA_EXPONENT_1, CKA_EXPONENT_2, CKA_COEFFICIENT}) {
    content.integer(session.attribute(key, type).span());
  }
}

// Without the public key, which libcrypto computes.
void add_ec_key(const TokenSession& session, CK_OBJECT_HANDLE key, Der& content) {
  content.integer(std::array<std::uint8_t, 1>{1});
  content.octets(session.attribute(key, CKA_VALUE).span());
  content.tagged(session.attribute(key, CKA_EC_PARAMS).span());
}

}  // namespace

SecretBytes read_token_key(const TokenConfig& config) {
  const TokenModule module(config.module);
  const TokenSession session(module, module.slot_of(config.token), config.pin_file);
  const CK_OBJECT_HANDLE key = session.private_key(config.object);
  const CK_KEY_TYPE type = session.type_of(key);
  if (type != CKK_RSA && type != CKK_EC)
    throw std::runtime_error("the key is neither RSA nor on a short Weierstrass curve");
  Der content, whole;
  (type == CKK_RSA ? add_rsa_key : add_ec_key)(session, key, content);
  whole.sequence(content);
  return whole.take();
}

}  // namespace manymod::signd
