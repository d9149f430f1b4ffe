// SPDX-License-Identifier: Apache-2.0
// A module of PKCS#11 with one token, "test token", whose PIN is 1234 and whose one private key has the label
// that MANYMOD_TEST_TOKEN_OBJECT says and comes from the file MANYMOD_TEST_TOKEN_KEY. With
// MANYMOD_TEST_TOKEN_SENSITIVE the token does not give it away.
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <p11-kit/pkcs11.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace {

using Value = std::vector<unsigned char>;

std::string setting(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Value number(const EVP_PKEY* key, const char* name) {
  BIGNUM* value = nullptr;
  if (EVP_PKEY_get_bn_param(key, name, &value) != 1) return {};
  Value bytes(static_cast<std::size_t>(BN_num_bytes(value)));
  BN_bn2bin(value, bytes.data());
  BN_free(value);
  return bytes;
}

std::map<CK_ATTRIBUTE_TYPE, Value> attributes() {
  std::FILE* const file = std::fopen(setting("MANYMOD_TEST_TOKEN_KEY").c_str(), "r");
  if (file == nullptr) return {};
  EVP_PKEY* const key = PEM_read_PrivateKey(file, nullptr, nullptr, nullptr);
  std::fclose(file);
  std::map<CK_ATTRIBUTE_TYPE, Value> all;
  const bool rsa = EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA;
  const CK_KEY_TYPE type = rsa ? CKK_RSA : CKK_EC;
  all[CKA_KEY_TYPE].resize(sizeof type);
  std::memcpy(all[CKA_KEY_TYPE].data(), &type, sizeof type);
  if (rsa) {
    all[CKA_MODULUS] = number(key, OSSL_PKEY_PARAM_RSA_N);
    all[CKA_PUBLIC_EXPONENT] = number(key, OSSL_PKEY_PARAM_RSA_E);
    all[CKA_PRIVATE_EXPONENT] = number(key, OSSL_PKEY_PARAM_RSA_D);
    all[CKA_PRIME_1] = number(key, OSSL_PKEY_PARAM_RSA_FACTOR1);
    all[CKA_PRIME_2] = number(key, OSSL_PKEY_PARAM_RSA_FACTOR2);
    all[CKA_EXPONENT_1] = number(key, OSSL_PKEY_PARAM_RSA_EXPONENT1);
    all[CKA_EXPONENT_2] = number(key, OSSL_PKEY_PARAM_RSA_EXPONENT2);
    all[CKA_COEFFICIENT] = number(key, OSSL_PKEY_PARAM_RSA_COEFFICIENT1);
  } else {
    all[CKA_VALUE] = number(key, OSSL_PKEY_PARAM_PRIV_KEY);
    all[CKA_EC_PARAMS] = {0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07};  // P-256
  }
  EVP_PKEY_free(key);
  return all;
}

bool found_already = false;
bool label_is_right = false;

CK_RV initialize(void*) { return CKR_OK; }
CK_RV finalize(void*) { return CKR_OK; }

CK_RV get_slot_list(unsigned char, CK_SLOT_ID* slots, CK_ULONG* count) {
  if (slots != nullptr) *slots = 7;
  *count = 1;
  return CKR_OK;
}

CK_RV get_token_info(CK_SLOT_ID, CK_TOKEN_INFO* info) {
  std::memset(info, 0, sizeof *info);
  std::memset(info->label, ' ', sizeof info->label);
  std::memcpy(info->label, "test token", 10);
  return CKR_OK;
}

CK_RV open_session(CK_SLOT_ID slot, CK_FLAGS, void*, CK_NOTIFY, CK_SESSION_HANDLE* session) {
  *session = 1;
  return slot == 7 ? CKR_OK : CKR_SLOT_ID_INVALID;
}
CK_RV close_session(CK_SESSION_HANDLE) { return CKR_OK; }

CK_RV login(CK_SESSION_HANDLE, CK_USER_TYPE, unsigned char* pin, CK_ULONG size) {
  return std::string(pin, pin + size) == "1234" ? CKR_OK : CKR_PIN_INCORRECT;
}

CK_RV find_begin(CK_SESSION_HANDLE, CK_ATTRIBUTE* wanted, CK_ULONG count) {
  found_already = false;
  label_is_right = std::any_of(wanted, wanted + count, [](const CK_ATTRIBUTE& attribute) {
    const auto* const text = static_cast<const char*>(attribute.pValue);
    return attribute.type == CKA_LABEL &&
           std::string(text, attribute.ulValueLen) == setting("MANYMOD_TEST_TOKEN_OBJECT");
  });
  return CKR_OK;
}

CK_RV find(CK_SESSION_HANDLE, CK_OBJECT_HANDLE* objects, CK_ULONG, CK_ULONG* count) {
  *count = label_is_right && !found_already ? 1 : 0;
  if (*count == 1) *objects = 3;
  found_already = true;
  return CKR_OK;
}
CK_RV find_end(CK_SESSION_HANDLE) { return CKR_OK; }

CK_RV get_attribute(CK_SESSION_HANDLE, CK_OBJECT_HANDLE, CK_ATTRIBUTE* wanted, CK_ULONG) {
  const auto all = attributes();
  const auto value = all.find(wanted->type);
  const bool hidden = wanted->type != CKA_KEY_TYPE && !setting("MANYMOD_TEST_TOKEN_SENSITIVE").empty();
  if (value == all.end() || hidden) {
    wanted->ulValueLen = ~CK_ULONG{0};
    return hidden ? CKR_ATTRIBUTE_SENSITIVE : CKR_ATTRIBUTE_TYPE_INVALID;
  }
  if (wanted->pValue != nullptr) std::memcpy(wanted->pValue, value->second.data(), value->second.size());
  wanted->ulValueLen = value->second.size();
  return CKR_OK;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) CK_RV C_GetFunctionList(CK_FUNCTION_LIST** list) {
  static CK_FUNCTION_LIST functions{};
  functions.C_Initialize = initialize;
  functions.C_Finalize = finalize;
  functions.C_GetSlotList = get_slot_list;
  functions.C_GetTokenInfo = get_token_info;
  functions.C_OpenSession = open_session;
  functions.C_CloseSession = close_session;
  functions.C_Login = login;
  functions.C_FindObjectsInit = find_begin;
  functions.C_FindObjects = find;
  functions.C_FindObjectsFinal = find_end;
  functions.C_GetAttributeValue = get_attribute;
  *list = &functions;
  return CKR_OK;
}
