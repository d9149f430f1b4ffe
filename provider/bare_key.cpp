// SPDX-License-Identifier: Apache-2.0
#include "bare_key.hpp"

#include <openssl/core_names.h>
#include <openssl/core_object.h>
#include <openssl/provider.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

#include "key.hpp"

namespace manymod::provider {
namespace {

/// The functions of one algorithm of a provider; null if it has none of that name. `property`: that it has,
/// with its value.
const OSSL_DISPATCH* table_of(const OSSL_PROVIDER* provider, int operation, std::string_view name,
                              std::string_view property = "") {
  int no_cache = 0;
  const OSSL_ALGORITHM* const all = OSSL_PROVIDER_query_operation(provider, operation, &no_cache);
  const OSSL_DISPATCH* found = nullptr;
  for (const OSSL_ALGORITHM* row = all; row != nullptr && row->algorithm_names != nullptr; ++row) {
    const std::string_view names = row->algorithm_names;
    const std::string_view properties = row->property_definition;
    if (names.substr(0, names.find(':')) != name) continue;
    if (properties.find(property) != std::string_view::npos) found = row->implementation;
  }
  OSSL_PROVIDER_unquery_operation(provider, operation, all);
  return found;
}

/// Take a function from a table. @return whether it is there
template <class Function>
bool take(Function*& function, const OSSL_DISPATCH* table, int id) {
  for (; table->function_id != 0; ++table) {
    if (table->function_id == id) function = reinterpret_cast<Function*>(table->function);
  }
  return function != nullptr;
}

bool take_key_functions(DefaultFunctions& all, const OSSL_DISPATCH* table) {
  return table != nullptr && take(all.create_key, table, OSSL_FUNC_KEYMGMT_NEW) &&
         take(all.free_key, table, OSSL_FUNC_KEYMGMT_FREE) &&
         take(all.duplicate_key, table, OSSL_FUNC_KEYMGMT_DUP) &&
         take(all.load, table, OSSL_FUNC_KEYMGMT_LOAD) && take(all.has, table, OSSL_FUNC_KEYMGMT_HAS) &&
         take(all.import, table, OSSL_FUNC_KEYMGMT_IMPORT) &&
         take(all.export_key, table, OSSL_FUNC_KEYMGMT_EXPORT) &&
         take(all.get_key_params, table, OSSL_FUNC_KEYMGMT_GET_PARAMS);
}

bool take_decoder_functions(DefaultFunctions& all, const OSSL_DISPATCH* table) {
  return table != nullptr && take(all.create_decoder, table, OSSL_FUNC_DECODER_NEWCTX) &&
         take(all.free_decoder, table, OSSL_FUNC_DECODER_FREECTX) &&
         take(all.decode, table, OSSL_FUNC_DECODER_DECODE);
}

bool take_signature_functions(DefaultFunctions& all, const OSSL_DISPATCH* table) {
  return table != nullptr && take(all.create, table, OSSL_FUNC_SIGNATURE_NEWCTX) &&
         take(all.free, table, OSSL_FUNC_SIGNATURE_FREECTX) &&
         take(all.duplicate, table, OSSL_FUNC_SIGNATURE_DUPCTX) &&
         take(all.begin, table, OSSL_FUNC_SIGNATURE_VERIFY_INIT) &&
         take(all.verify, table, OSSL_FUNC_SIGNATURE_VERIFY) &&
         take(all.begin_message, table, OSSL_FUNC_SIGNATURE_DIGEST_VERIFY_INIT) &&
         take(all.update, table, OSSL_FUNC_SIGNATURE_DIGEST_VERIFY_UPDATE) &&
         take(all.verify_message, table, OSSL_FUNC_SIGNATURE_DIGEST_VERIFY_FINAL) &&
         take(all.get_params, table, OSSL_FUNC_SIGNATURE_GET_CTX_PARAMS) &&
         take(all.set_params, table, OSSL_FUNC_SIGNATURE_SET_CTX_PARAMS) &&
         take(all.gettable_params, table, OSSL_FUNC_SIGNATURE_GETTABLE_CTX_PARAMS) &&
         take(all.settable_params, table, OSSL_FUNC_SIGNATURE_SETTABLE_CTX_PARAMS) &&
         take(all.get_hash_params, table, OSSL_FUNC_SIGNATURE_GET_CTX_MD_PARAMS) &&
         take(all.set_hash_params, table, OSSL_FUNC_SIGNATURE_SET_CTX_MD_PARAMS) &&
         take(all.gettable_hash_params, table, OSSL_FUNC_SIGNATURE_GETTABLE_CTX_MD_PARAMS) &&
         take(all.settable_hash_params, table, OSSL_FUNC_SIGNATURE_SETTABLE_CTX_MD_PARAMS);
}

std::unique_ptr<DefaultFunctions> look_up(OSSL_LIB_CTX* library, Kind kind) {
  auto all = std::make_unique<DefaultFunctions>();
  all->management.reset(EVP_KEYMGMT_fetch(library, name_of(kind), kDelegate));
  if (all->management == nullptr) return nullptr;
  const OSSL_PROVIDER* const provider = EVP_KEYMGMT_get0_provider(all->management.get());
  all->context = OSSL_PROVIDER_get0_provider_ctx(provider);
  const OSSL_DISPATCH* const keys = table_of(provider, OSSL_OP_KEYMGMT, name_of(kind));
  const char* const signature = kind == Kind::ec ? "ECDSA" : "RSA";
  if (!take_key_functions(*all, keys) ||
      !take_decoder_functions(*all, table_of(provider, OSSL_OP_DECODER, name_of(kind),
                                             "input=der,structure=SubjectPublicKeyInfo")) ||
      !take_signature_functions(*all, table_of(provider, OSSL_OP_SIGNATURE, signature))) {
    return nullptr;
  }
  take(all->set_key_params, keys, OSSL_FUNC_KEYMGMT_SET_PARAMS);
  return all;
}

bool has(const OSSL_PARAM parts[], const char* name) {
  return OSSL_PARAM_locate_const(parts, name) != nullptr;
}

/// Whether the parts are those of a public key whose signatures the default provider verifies (those of
/// other keys: verify.hpp).
bool is_bare(Kind kind, int selection, const OSSL_PARAM parts[]) {
  if ((selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) == 0) return false;
  switch (kind) {
    case Kind::rsa:
    case Kind::rsa_pss:
      return has(parts, OSSL_PKEY_PARAM_RSA_N) && !has(parts, OSSL_PKEY_PARAM_RSA_D);
    case Kind::ec: {
      const OSSL_PARAM* const group = OSSL_PARAM_locate_const(parts, OSSL_PKEY_PARAM_GROUP_NAME);
      const char* name = nullptr;
      return group != nullptr && OSSL_PARAM_get_utf8_string_ptr(group, &name) != 0 && name != nullptr &&
             !is_p384(name) && has(parts, OSSL_PKEY_PARAM_PUB_KEY) && !has(parts, OSSL_PKEY_PARAM_PRIV_KEY);
    }
    case Kind::ed25519:
      break;
  }
  return false;
}

bool is_point(const OSSL_PARAM& part) { return std::strcmp(part.key, OSSL_PKEY_PARAM_PUB_KEY) == 0; }

/// Whether the list contains the values of all parts, so that they can be compared. Not for values that it
/// points to, or texts without a length: such keys are imported in the ordinary way.
bool are_values(const OSSL_PARAM* part) {
  for (; part->key != nullptr; ++part) {
    const bool by_pointer = part->data_type == OSSL_PARAM_UTF8_PTR || part->data_type == OSSL_PARAM_OCTET_PTR;
    if (part->data == nullptr || part->data_size == 0 || by_pointer) return false;
  }
  return true;
}

DomainPart copy_of(const OSSL_PARAM& part) {
  DomainPart copy{part.key, part.data_type, part.data_size, {}};
  if (!is_point(part)) copy.value.assign(static_cast<const char*>(part.data), part.data_size);
  return copy;
}

bool is_same(const DomainPart& a, const OSSL_PARAM& b) {
  return a.name == b.key && a.type == b.data_type && a.size == b.data_size &&
         (is_point(b) || std::memcmp(a.value.data(), b.data, a.size) == 0);
}

/// Whether a list of parts has these domain parameters, in the same order.
bool is_same_domain(const std::vector<DomainPart>& domain, const OSSL_PARAM* part) {
  for (const DomainPart& known : domain) {
    if (part->key == nullptr || !is_same(known, *part)) return false;
    ++part;
  }
  return part->key == nullptr;
}

/// The uncompressed point among the parts; null if it has another form, or there is none.
const OSSL_PARAM* uncompressed_point(const OSSL_PARAM parts[]) {
  const OSSL_PARAM* const point = OSSL_PARAM_locate_const(parts, OSSL_PKEY_PARAM_PUB_KEY);
  const bool good = point != nullptr && point->data_type == OSSL_PARAM_OCTET_STRING &&
                    point->data != nullptr && point->data_size != 0;
  return good && *static_cast<const unsigned char*>(point->data) == POINT_CONVERSION_UNCOMPRESSED ? point
                                                                                                  : nullptr;
}

std::optional<BareKey> key_of_parts(const DefaultFunctions& functions, int selection,
                                    const OSSL_PARAM parts[]) {
  void* const data = functions.create_key(functions.context);
  if (data == nullptr) return std::nullopt;
  BareKey key(functions, data);
  if (functions.import(data, selection, parts) == 0) return std::nullopt;
  return key;
}

}  // namespace

std::string BareKey::usual_hash() const {
  char of_all[64] = "", of_restricted[64] = "";
  OSSL_PARAM asked[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_DEFAULT_DIGEST, of_all, sizeof of_all),
      OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_MANDATORY_DIGEST, of_restricted, sizeof of_restricted),
      OSSL_PARAM_construct_end()};
  ERR_set_mark();
  functions_->get_key_params(data_, asked);
  ERR_pop_to_mark();
  for (const char* const name : {of_restricted, of_all}) {
    if (*name != 0) return name;
  }
  return "SHA256";
}

DefaultProvider::~DefaultProvider() {
  for (const auto& domain : domains_) delete domain.load();
  for (const auto& functions : functions_) delete functions.load();
}

const DefaultFunctions* DefaultProvider::functions(OSSL_LIB_CTX* library, Kind kind) {
  std::atomic<const DefaultFunctions*>& known = functions_[static_cast<std::size_t>(kind)];
  if (const DefaultFunctions* const found = known.load(std::memory_order_acquire)) return found;
  std::unique_ptr<const DefaultFunctions> made = look_up(library, kind);
  const DefaultFunctions* none = nullptr;
  if (made == nullptr) return nullptr;
  return known.compare_exchange_strong(none, made.get(), std::memory_order_acq_rel) ? made.release() : none;
}

std::optional<BareKey> DefaultProvider::import(OSSL_LIB_CTX* library, Kind kind, int selection,
                                               const OSSL_PARAM parts[]) {
  if (!is_bare(kind, selection, parts)) return std::nullopt;
  const DefaultFunctions* const functions = this->functions(library, kind);
  if (functions == nullptr) return std::nullopt;
  constexpr int kAll = OSSL_KEYMGMT_SELECT_ALL_PARAMETERS;
  const bool may_be_known = kind == Kind::ec && functions->set_key_params != nullptr &&
                            (selection & kAll) == kAll && are_values(parts);
  if (may_be_known) {
    if (auto key = point_on_known_domain(*functions, parts)) return key;
  }
  auto key = key_of_parts(*functions, selection, parts);
  if (key && functions->has(key->data(), OSSL_KEYMGMT_SELECT_PUBLIC_KEY) == 0) return std::nullopt;
  if (key && may_be_known && uncompressed_point(parts) != nullptr) remember_domain(*functions, parts);
  return key;
}

namespace {

/// Where a decoder of the default provider leaves the key that it has decoded.
struct Decoded {
  const DefaultFunctions& functions;
  std::optional<BareKey> key;

  static int take(const OSSL_PARAM object[], void* decoded) {
    auto& self = *static_cast<Decoded*>(decoded);
    const OSSL_PARAM* const reference = OSSL_PARAM_locate_const(object, OSSL_OBJECT_PARAM_REFERENCE);
    if (reference == nullptr || reference->data_type != OSSL_PARAM_OCTET_STRING) return 0;
    void* const data = self.functions.load(reference->data, reference->data_size);
    if (data == nullptr) return 0;
    self.key.emplace(self.functions, data);
    return 1;
  }
};

}  // namespace

std::optional<BareKey> DefaultProvider::decode(OSSL_LIB_CTX* library, Kind kind, OSSL_CORE_BIO* der) {
  const DefaultFunctions* const functions = this->functions(library, kind);
  if (functions == nullptr) return std::nullopt;
  void* const decoder = functions->create_decoder(functions->context);
  if (decoder == nullptr) return std::nullopt;
  Decoded decoded{*functions, std::nullopt};
  functions->decode(decoder, der, OSSL_KEYMGMT_SELECT_PUBLIC_KEY | OSSL_KEYMGMT_SELECT_ALL_PARAMETERS,
                    Decoded::take, &decoded, nullptr, nullptr);
  functions->free_decoder(decoder);
  return std::move(decoded.key);
}

// Making the group of a curve takes 3 us (OpenSSL 3.5) to 10 us (3.0), copying it 0.5 us.
std::optional<BareKey> DefaultProvider::point_on_known_domain(const DefaultFunctions& functions,
                                                              const OSSL_PARAM parts[]) {
  const OSSL_PARAM* const point = uncompressed_point(parts);
  if (point == nullptr) return std::nullopt;
  for (const auto& known : domains_) {
    const Domain* const domain = known.load(std::memory_order_acquire);
    if (domain == nullptr) return std::nullopt;
    if (!is_same_domain(domain->parts, parts)) continue;
    void* const data = functions.duplicate_key(domain->key.data(), OSSL_KEYMGMT_SELECT_ALL_PARAMETERS);
    if (data == nullptr) return std::nullopt;
    BareKey key(functions, data);
    // Setting a point also sets the key's conversion format to that of the point, so that the format of the
    // parts follows it.
    const OSSL_PARAM* const form = OSSL_PARAM_locate_const(parts, OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT);
    const OSSL_PARAM end = OSSL_PARAM_construct_end();
    const OSSL_PARAM set[] = {
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, point->data, point->data_size),
        form == nullptr ? end : *form, end};
    ERR_set_mark();
    const bool good = functions.set_key_params(data, set) != 0;
    ERR_pop_to_mark();
    if (!good) return std::nullopt;  // the ordinary import will report why
    return key;
  }
  return std::nullopt;
}

void DefaultProvider::remember_domain(const DefaultFunctions& functions, const OSSL_PARAM parts[]) {
  const auto free = std::find_if(domains_.begin(), domains_.end(),
                                 [](const auto& domain) { return domain.load() == nullptr; });
  if (free == domains_.end()) return;
  auto key = key_of_parts(functions, OSSL_KEYMGMT_SELECT_ALL_PARAMETERS, parts);
  if (!key) return;
  std::vector<DomainPart> copy;
  for (const OSSL_PARAM* part = parts; part->key != nullptr; ++part) copy.push_back(copy_of(*part));
  auto made = std::make_unique<Domain>(Domain{std::move(*key), std::move(copy)});
  const Domain* none = nullptr;
  if (free->compare_exchange_strong(none, made.get(), std::memory_order_acq_rel)) {
    [[maybe_unused]] const auto* const kept = made.release();
  }
}

BareVerification::BareVerification(const DefaultFunctions& functions)
    : BareVerification(functions, functions.create(functions.context, kDelegate)) {
  if (context_ == nullptr) throw std::bad_alloc();
}

BareVerification::BareVerification(const DefaultFunctions& functions, void* context)
    : functions_(&functions), context_(context, Free{&functions}) {}

std::optional<BareVerification> BareVerification::duplicate() const {
  BareVerification copy(*functions_, functions_->duplicate(context_.get()));
  if (copy.context_ == nullptr) return std::nullopt;
  return copy;
}

}  // namespace manymod::provider
