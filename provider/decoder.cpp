// SPDX-License-Identifier: Apache-2.0
// DECODER (provider-decoder(7)): references to keys of manymod-signd. A reference is PEM with a label of its
// own around the SubjectPublicKeyInfo of the key. It is decoded in two steps, as libcrypto's store of files
// needs it: from PEM to DER with the name of its structure, and from that to a key.
#include <openssl/asn1.h>
#include <openssl/core_names.h>
#include <openssl/core_object.h>
#include <openssl/pem.h>

#include <algorithm>
#include <new>
#include <optional>
#include <string_view>

#include "key.hpp"
#include "provider.hpp"

namespace manymod::provider {
namespace {

constexpr std::string_view kLabel = "MANYMOD KEY REFERENCE";
constexpr std::string_view kName = "manymod key reference";
constexpr char kStructure[] = "manymod-key-reference";
#define MANYMOD_REFERENCE_PROPERTIES MANYMOD_PROVIDER_PROPERTIES ",input=der,structure=manymod-key-reference"
#define MANYMOD_PUBLIC_KEY_PROPERTIES MANYMOD_PROVIDER_PROPERTIES ",input=der,structure=SubjectPublicKeyInfo"

/// What PEM_read_bio_ex has read.
struct Pem {
  char* name = nullptr;
  char* header = nullptr;
  unsigned char* data = nullptr;
  long size = 0;

  Pem() = default;
  Pem(const Pem&) = delete;
  Pem& operator=(const Pem&) = delete;
  ~Pem() {
    OPENSSL_secure_free(name);
    OPENSSL_secure_free(header);
    OPENSSL_secure_clear_free(data, static_cast<std::size_t>(size));
  }
  /// PEM_FLAG_SECURE: the PEM may be a private key, and libcrypto then zeroes all its buffers.
  bool read(BIO* bio) {
    const unsigned flags = PEM_FLAG_SECURE | PEM_FLAG_EAY_COMPATIBLE;
    if (PEM_read_bio_ex(bio, &name, &header, &data, &size, flags) != 0) return true;
    name = header = nullptr;  // OpenSSL before 3.0.8 may leave what it has freed
    data = nullptr;
    return false;
  }
};

struct Decoder {
  const Provider& provider;
};

void* create_decoder(void* context) { return new (std::nothrow) Decoder{provider_of(context)}; }

void destroy_decoder(void* decoder) { delete static_cast<Decoder*>(decoder); }

int call_with(OSSL_CALLBACK* callback, void* argument, int type, const char* name, const char* value,
              OSSL_PARAM object) {
  const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_int(OSSL_OBJECT_PARAM_TYPE, &type),
                                   OSSL_PARAM_construct_utf8_string(name, const_cast<char*>(value), 0),
                                   object, OSSL_PARAM_construct_end()};
  return callback(parameters, argument);
}

/// From PEM to DER. If the input is no PEM, or PEM with another label, other decoders may know it: that is
/// no failure.
int decode_pem(void* decoder, OSSL_CORE_BIO* in, int, OSSL_CALLBACK* callback, void* argument,
               OSSL_PASSPHRASE_CALLBACK*, void*) {
  const Provider& provider = static_cast<Decoder*>(decoder)->provider;
  const Libcrypto<BIO> bio(BIO_new_from_core_bio(provider.library(), in));
  if (bio == nullptr) return 0;
  Pem pem;
  ERR_set_mark();
  const bool read = pem.read(bio.get());
  ERR_pop_to_mark();
  if (!read || kLabel != pem.name) return 1;
  return call_with(callback, argument, OSSL_OBJECT_PKEY, OSSL_OBJECT_PARAM_DATA_STRUCTURE, kStructure,
                   OSSL_PARAM_construct_octet_string(OSSL_OBJECT_PARAM_DATA, pem.data,
                                                     static_cast<std::size_t>(pem.size)));
}

/// Read up to `size` bytes more. @return whether there were as many
bool read_more(BIO* bio, signd::Bytes& bytes, std::size_t size) {
  const std::size_t wanted = bytes.size() + size;
  std::size_t got = 1;
  while (bytes.size() < wanted && got != 0) {
    const std::size_t before = bytes.size();
    bytes.resize(wanted);
    if (BIO_read_ex(bio, bytes.data() + before, wanted - before, &got) <= 0) got = 0;
    bytes.resize(before + got);
  }
  return bytes.size() == wanted;
}

/// The bytes of a key reference; empty if they do not begin with a reference's name. Then they may be those
/// of a private key, and no more of them are read.
signd::Bytes read_reference(BIO* bio) {
  constexpr std::size_t kHeads = 6 + 2;  // heads of the SEQUENCE, of up to 2^32 - 1 bytes, and of the name
  signd::Bytes bytes;
  if (!read_more(bio, bytes, kHeads + kName.size()) || std::ranges::search(bytes, kName).empty()) return {};
  while (read_more(bio, bytes, 4096)) {
  }
  return bytes;
}

/// Takes the first DER element from `bytes`, which begin behind it afterwards. @return its contents; nothing
/// if it has another type, or is longer than the bytes
std::optional<std::span<const std::uint8_t>> take_element(std::span<const std::uint8_t>& bytes, int type) {
  const unsigned char* contents = bytes.data();
  long size = 0;
  int tag = 0;
  int tag_class = 0;
  const int flags = ASN1_get_object(&contents, &size, &tag, &tag_class, static_cast<long>(bytes.size()));
  const bool definite = flags == 0 || flags == V_ASN1_CONSTRUCTED;  // without the bits of errors
  if (!definite || tag != type || tag_class != V_ASN1_UNIVERSAL) return std::nullopt;
  const std::span<const std::uint8_t> found(contents, static_cast<std::size_t>(size));
  bytes = bytes.subspan(static_cast<std::size_t>(contents - bytes.data()) + found.size());
  return found;
}

/// The SubjectPublicKeyInfo of a reference; empty for what is none.
std::span<const std::uint8_t> public_key_of(std::span<const std::uint8_t> der) {
  std::optional<std::span<const std::uint8_t>> parts = take_element(der, V_ASN1_SEQUENCE);
  if (!parts || !der.empty()) return {};
  const std::optional<std::span<const std::uint8_t>> name = take_element(*parts, V_ASN1_UTF8STRING);
  if (!name || !std::equal(name->begin(), name->end(), kName.begin(), kName.end())) return {};
  return *parts;
}

/// Hand a new key to the caller of a decoder. @return what that returns
int hand_over(KeyOwner key, OSSL_CALLBACK* callback, void* argument) {
  const char* const name = name_of(key->kind());
  Key* reference = key.release();
  const int done =
      call_with(callback, argument, OSSL_OBJECT_PKEY, OSSL_OBJECT_PARAM_DATA_TYPE, name,
                OSSL_PARAM_construct_octet_string(OSSL_OBJECT_PARAM_REFERENCE, &reference, sizeof(Key*)));
  if (reference != nullptr) reference->release();  // nobody has taken it
  return done;
}

/// From a SubjectPublicKeyInfo to a public key of one kind. Without this decoder the default provider would
/// decode it, and libcrypto export it to this provider.
template <Kind kKind>
int decode_public(void* decoder, OSSL_CORE_BIO* in, int, OSSL_CALLBACK* callback, void* argument,
                  OSSL_PASSPHRASE_CALLBACK*, void*) {
  const Provider& provider = static_cast<Decoder*>(decoder)->provider;
  return guarded(provider, [&] {
    KeyOwner key(new Key(provider, kKind));
    ERR_set_mark();
    const bool decoded = key->decode(in);
    ERR_pop_to_mark();
    return decoded ? hand_over(std::move(key), callback, argument) : 1;
  });
}

/// From the DER of a key reference to a key of one kind. References to keys of other kinds are left to the
/// decoders of those.
template <Kind kKind>
int decode_der(void* decoder, OSSL_CORE_BIO* in, int, OSSL_CALLBACK* callback, void* argument,
               OSSL_PASSPHRASE_CALLBACK*, void*) {
  const Provider& provider = static_cast<Decoder*>(decoder)->provider;
  return guarded(provider, [&] {
    const Libcrypto<BIO> bio(BIO_new_from_core_bio(provider.library(), in));
    if (bio == nullptr) return 0;
    KeyOwner key(new Key(provider, kKind));
    ERR_set_mark();
    const signd::Bytes der = read_reference(bio.get());
    const bool refers = key->refer(public_key_of(der));
    ERR_pop_to_mark();
    if (!refers) return 1;
    return hand_over(std::move(key), callback, argument);
  });
}

int selects_public(void*, int selection) {
  return (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) == 0 ? 1 : 0;
}

template <OSSL_FUNC_decoder_decode_fn kDecode>
const OSSL_DISPATCH* decoder_functions() {
  static const OSSL_DISPATCH table[] = {entry(OSSL_FUNC_DECODER_NEWCTX, create_decoder),
                                        entry(OSSL_FUNC_DECODER_FREECTX, destroy_decoder),
                                        entry(OSSL_FUNC_DECODER_DECODE, kDecode),
                                        {0, nullptr}};
  return table;
}

template <Kind kKind>
const OSSL_DISPATCH* public_decoder_functions() {
  static const OSSL_DISPATCH table[] = {entry(OSSL_FUNC_DECODER_NEWCTX, create_decoder),
                                        entry(OSSL_FUNC_DECODER_FREECTX, destroy_decoder),
                                        entry(OSSL_FUNC_DECODER_DOES_SELECTION, selects_public),
                                        entry(OSSL_FUNC_DECODER_DECODE, decode_public<kKind>),
                                        {0, nullptr}};
  return table;
}

}  // namespace

std::span<const Algorithm> decoders(bool public_too) {
  static const Algorithm all[] = {
      {nullptr,
       {"DER", MANYMOD_PROVIDER_PROPERTIES ",input=pem", decoder_functions<decode_pem>(),
        "key references of manymod"}},
      {"RSA",
       {"RSA", MANYMOD_REFERENCE_PROPERTIES, decoder_functions<decode_der<Kind::rsa>>(),
        "key references of manymod"}},
      {"RSA",
       {"RSA-PSS", MANYMOD_REFERENCE_PROPERTIES, decoder_functions<decode_der<Kind::rsa_pss>>(),
        "key references of manymod"}},
      {"EC",
       {"EC", MANYMOD_REFERENCE_PROPERTIES, decoder_functions<decode_der<Kind::ec>>(),
        "key references of manymod"}},
      {"ED25519",
       {"ED25519", MANYMOD_REFERENCE_PROPERTIES, decoder_functions<decode_der<Kind::ed25519>>(),
        "key references of manymod"}},
      {"RSA", {"RSA", MANYMOD_PUBLIC_KEY_PROPERTIES, public_decoder_functions<Kind::rsa>(), "public keys"}},
      {"EC", {"EC", MANYMOD_PUBLIC_KEY_PROPERTIES, public_decoder_functions<Kind::ec>(), "public keys"}}};
  return std::span<const Algorithm>(all).first(std::size(all) - (public_too ? 0 : 2));
}

}  // namespace manymod::provider
