// SPDX-License-Identifier: Apache-2.0
#include "provider.hpp"

#include <openssl/core_names.h>
#include <openssl/provider.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdarg>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "client/client.hpp"
#include "manymod/manymod.h"

namespace manymod::provider {
namespace {

std::string with_default(const char* value, const std::string& otherwise) {
  return value == nullptr ? otherwise : value;
}

// Decimal digits alone are a number: no sign and no spaces.
unsigned number(const char* name, const char* value, unsigned otherwise, unsigned most) {
  if (value == nullptr) return otherwise;
  const char* const end = value + std::string_view(value).size();
  unsigned parsed = 0;
  const auto [rest, error] = std::from_chars(value, end, parsed);
  if (error != std::errc() || rest != end || parsed > most) {
    throw std::runtime_error(std::string(name) + " = " + value + " is no number from 0 to " +
                             std::to_string(most));
  }
  return parsed;
}

bool yes_or_no(const char* name, const char* value, bool otherwise) {
  if (value == nullptr) return otherwise;
  if (std::string_view(value) == "yes") return true;
  if (std::string_view(value) == "no") return false;
  throw std::runtime_error(std::string(name) + " = " + value + " is neither yes nor no");
}

Mode mode_of(const char* value) {
  if (value == nullptr || std::string_view(value) == "process") return Mode::process;
  if (std::string_view(value) == "daemon") return Mode::daemon;
  throw std::runtime_error(std::string("mode = ") + value + " is neither process nor daemon");
}

}  // namespace

Provider::Provider(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* core) noexcept
    : handle_(handle), core_(core) {
  for (const OSSL_DISPATCH* function = core; function->function_id != 0; ++function) {
    switch (function->function_id) {
      case OSSL_FUNC_CORE_GET_PARAMS:
        get_params_ = OSSL_FUNC_core_get_params(function);
        break;
      case OSSL_FUNC_CORE_NEW_ERROR:
        new_error_ = OSSL_FUNC_core_new_error(function);
        break;
      case OSSL_FUNC_CORE_SET_ERROR_DEBUG:
        set_error_debug_ = OSSL_FUNC_core_set_error_debug(function);
        break;
      case OSSL_FUNC_CORE_VSET_ERROR:
        vset_error_ = OSSL_FUNC_core_vset_error(function);
        break;
      default:
        break;
    }
  }
}

void Provider::start() {
  ask_core_version();
  configure();
  library_.reset(OSSL_LIB_CTX_new_child(handle_, core_));
  if (library_ == nullptr) throw std::runtime_error("OSSL_LIB_CTX_new_child failed");
  daemon_ = std::make_unique<signd::Client>(
      signd::Settings{configuration_.socket, std::chrono::milliseconds(configuration_.patience_ms),
                      configuration_.ca, configuration_.certificate, configuration_.key});
  list(OSSL_OP_KEYMGMT, key_management());
  // Before 3.4, which knows them, libcrypto refuses algorithms with a part of them.
  list(OSSL_OP_SIGNATURE, signatures(is_loaded_by(3, 4)));
  list(OSSL_OP_ASYM_CIPHER, asymmetric_ciphers());
  list(OSSL_OP_KEYEXCH, key_exchanges());
  list(OSSL_OP_DECODER, decoders(configuration_.decode_public));
}

void Provider::list(int operation, std::span<const Algorithm> all) {
  std::vector<OSSL_ALGORITHM>& rows = algorithms_[operation];
  for (const Algorithm& algorithm : all) {
    if (algorithm.kind == nullptr || offers(algorithm.kind)) rows.push_back(algorithm.row);
  }
  rows.push_back({});
}

const OSSL_ALGORITHM* Provider::algorithms(int operation) const {
  const auto found = algorithms_.find(operation);
  return found == algorithms_.end() ? nullptr : found->second.data();
}

Provider::~Provider() = default;

void Provider::ask_core_version() {
  char* version = nullptr;  // "3.0.19"
  OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_ptr(OSSL_PROV_PARAM_CORE_VERSION, &version, 0),
                             OSSL_PARAM_construct_end()};
  if (get_params_ == nullptr || get_params_(handle_, parameters) == 0 || version == nullptr) return;
  const char* const end = version + std::string_view(version).size();
  const char* const point = std::from_chars(version, end, core_version_.first).ptr;
  if (point != end) std::from_chars(point + 1, end, core_version_.second);
}

const char* Provider::setting(const char* name) const {
  const char* value = nullptr;
  OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_ptr(name, const_cast<char**>(&value), 0),
                             OSSL_PARAM_construct_end()};
  if (get_params_(handle_, parameters) == 0) throw std::runtime_error("the configuration cannot be read");
  return value;
}

void Provider::configure() {
  if (get_params_ == nullptr) return;
  const auto text = [this](const char* name, const std::string& otherwise) {
    return with_default(setting(name), otherwise);
  };
  const auto limited = [this](const char* name, unsigned otherwise, unsigned most) {
    return number(name, setting(name), otherwise, most);
  };
  configuration_.mode = mode_of(setting("mode"));
  configuration_.socket = text("socket", configuration_.socket);
  configuration_.ca = text("ca", "");
  configuration_.certificate = text("certificate", "");
  configuration_.key = text("key", "");
  const bool files =
      !configuration_.ca.empty() && !configuration_.certificate.empty() && !configuration_.key.empty();
  if (configuration_.socket.starts_with("tcp://") && !files) {
    throw std::runtime_error("socket = tcp://.. needs ca, certificate and key");
  }
  configuration_.patience_ms = limited("patience_ms", configuration_.patience_ms, 600'000);
  configuration_.timeout_ms = limited("timeout_ms", configuration_.timeout_ms, 600'000);
  configuration_.algorithms = text("algorithms", configuration_.algorithms);
  // OpenSSL 3.2 and newer store the decoders of each kind of key, ordered by preference. Older versions try
  // all decoders for each key, so that every further decoder makes the loading of keys slower.
  configuration_.decode_public = yes_or_no("decode_public", setting("decode_public"), is_loaded_by(3, 2));
  EngineSettings& engine = configuration_.engine;
  engine.device = text("device", engine.device);
  engine.concurrent = limited("concurrent", engine.concurrent, 1024);
  engine.deadline_us = limited("deadline_us", engine.deadline_us, 1'000'000);
  engine.rsa_alone_bits = limited("rsa_alone_bits", static_cast<unsigned>(engine.rsa_alone_bits), 65'536);
}

bool Provider::offers(std::string_view algorithm) const {
  std::string_view rest = configuration_.algorithms;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::string_view name = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    if (name == algorithm) return true;
  }
  return false;
}

void Provider::raise(Reason reason, const char* text) const noexcept { set_error(reason, "%s", text); }

// NOLINTNEXTLINE(modernize-avoid-variadic-functions): the core takes a va_list
void Provider::set_error(Reason reason, const char* format, ...) const noexcept {
  if (new_error_ == nullptr || vset_error_ == nullptr) return;
  new_error_(handle_);
  if (set_error_debug_ != nullptr) set_error_debug_(handle_, "manymod", 0, "manymod");
  va_list arguments;
  va_start(arguments, format);
  vset_error_(handle_, static_cast<std::uint32_t>(reason), format, arguments);
  va_end(arguments);
}

namespace {

const OSSL_PARAM* gettable_parameters(void*) {
  static const OSSL_PARAM parameters[] = {OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_NAME, nullptr, 0),
                                          OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_VERSION, nullptr, 0),
                                          OSSL_PARAM_utf8_ptr(OSSL_PROV_PARAM_BUILDINFO, nullptr, 0),
                                          OSSL_PARAM_int(OSSL_PROV_PARAM_STATUS, nullptr),
                                          OSSL_PARAM_size_t(kComputed, nullptr),
                                          OSSL_PARAM_size_t(kVerified, nullptr),
                                          OSSL_PARAM_END};
  return parameters;
}

int get_parameters(void* context, OSSL_PARAM parameters[]) {
  const auto set = [parameters](const char* name, const char* value) {
    OSSL_PARAM* const parameter = OSSL_PARAM_locate(parameters, name);
    return parameter == nullptr || OSSL_PARAM_set_utf8_ptr(parameter, value) != 0;
  };
  const auto count = [parameters](const char* name, std::size_t value) {
    OSSL_PARAM* const parameter = OSSL_PARAM_locate(parameters, name);
    return parameter == nullptr || OSSL_PARAM_set_size_t(parameter, value) != 0;
  };
  const Provider& provider = provider_of(context);
  if (!count(kComputed, provider.computed()) || !count(kVerified, provider.verified())) return 0;
  OSSL_PARAM* const status = OSSL_PARAM_locate(parameters, OSSL_PROV_PARAM_STATUS);
  return set(OSSL_PROV_PARAM_NAME, "manymod provider") && set(OSSL_PROV_PARAM_VERSION, mm_version()) &&
                 set(OSSL_PROV_PARAM_BUILDINFO, mm_version()) &&
                 (status == nullptr || OSSL_PARAM_set_int(status, 1) != 0)
             ? 1
             : 0;
}

const OSSL_ALGORITHM* query_operation(void* context, int operation, int* no_cache) {
  *no_cache = 0;
  return provider_of(context).algorithms(operation);
}

const OSSL_ITEM* reason_strings(void*) {
  const auto item = [](Reason reason, const char* text) {
    return OSSL_ITEM{static_cast<unsigned>(reason), const_cast<char*>(text)};
  };
  static const OSSL_ITEM items[] = {item(Reason::failed, "failed"),
                                    item(Reason::configuration, "wrong configuration"),
                                    item(Reason::no_key, "no key"),
                                    item(Reason::not_computed, "not computed"),
                                    item(Reason::not_private, "the private numbers are not in this process"),
                                    item(Reason::digest, "wrong digest"),
                                    item(Reason::room, "the buffer is too small"),
                                    {0, nullptr}};
  return items;
}

void teardown(void* context) { delete static_cast<Provider*>(context); }

}  // namespace
}  // namespace manymod::provider

extern "C" __attribute__((visibility("default"))) int OSSL_provider_init(const OSSL_CORE_HANDLE* handle,
                                                                         const OSSL_DISPATCH* core,
                                                                         const OSSL_DISPATCH** out,
                                                                         void** context) {
  using namespace manymod::provider;
  static const OSSL_DISPATCH table[] = {entry(OSSL_FUNC_PROVIDER_TEARDOWN, teardown),
                                        entry(OSSL_FUNC_PROVIDER_GETTABLE_PARAMS, gettable_parameters),
                                        entry(OSSL_FUNC_PROVIDER_GET_PARAMS, get_parameters),
                                        entry(OSSL_FUNC_PROVIDER_QUERY_OPERATION, query_operation),
                                        entry(OSSL_FUNC_PROVIDER_GET_REASON_STRINGS, reason_strings),
                                        entry(OSSL_FUNC_PROVIDER_GET_CAPABILITIES, get_capabilities),
                                        {0, nullptr}};
  auto* const provider = new (std::nothrow) Provider(handle, core);
  if (provider == nullptr) return 0;
  try {
    provider->start();
  } catch (const std::exception& error) {
    provider->raise(Reason::configuration, error.what());
    delete provider;
    return 0;
  }
  *context = provider;
  *out = table;
  return 1;
}
