// SPDX-License-Identifier: Apache-2.0
#include "server/config.hpp"

#include <openssl/conf.h>
#include <openssl/err.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "manymod/rsa.h"
#include "protocol/frame.hpp"
#include "protocol/request.hpp"
#include "server/ring_connection.hpp"
#include "transport/tcp.hpp"

namespace manymod::signd {
namespace {

constexpr std::string_view kKeySection = "key.";
constexpr std::array<const char*, kOperations> kOperationNames = {
    "sign_pkcs1", "sign_pss", "decrypt_pkcs1", "decrypt_oaep", "raw", "sign_ecdsa", "sign_eddsa", "exchange"};
/// What a key may do unless its section says otherwise: bare powers sign and decrypt anything.
constexpr std::uint32_t kUsualOperations = ((1U << kOperations) - 1) & ~bit_of(Operation::raw);

struct FreeConf {
  void operator()(CONF* conf) const { NCONF_free(conf); }
  void operator()(STACK_OF(OPENSSL_CSTRING) * names) const { sk_OPENSSL_CSTRING_free(names); }
};

using Setter = std::function<void(const std::string&)>;
using Setters = std::map<std::string, Setter>;

// Where an item ends: at a separator before which there is no backslash.
std::size_t end_of_item(const std::string& value, std::size_t at, char separator) {
  while (at < value.size() && value[at] != separator) at += value[at] == '\\' ? 2 : 1;
  return std::min(at, value.size());
}

std::vector<std::string> list_of(const std::string& value, char separator = ',') {
  std::vector<std::string> items;
  for (std::size_t at = 0; at <= value.size();) {
    const std::size_t comma = end_of_item(value, at, separator);
    const std::size_t first = std::min(value.find_first_not_of(" \t", at), comma);
    const std::size_t last = value.find_last_not_of(" \t", comma == 0 ? 0 : comma - 1);
    if (first < comma) items.push_back(value.substr(first, last + 1 - first));
    at = comma + 1;
  }
  return items;
}

template <class T>
std::string digits_of(T number, int base) {
  std::array<char, 24> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number, base).ptr};
}

template <class T>
Setter number(T& to, T least, T most, int base = 10) {
  return [&to, least, most, base](const std::string& value) {
    T read{};
    const char* const end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, read, base);
    if (error != std::errc() || stop != end || read < least || read > most) {
      throw std::runtime_error((base == 8 ? "must be an octal number from " : "must be a number from ") +
                               digits_of(least, base) + " to " + digits_of(most, base));
    }
    to = read;
  };
}

Setter real(double& to) {
  return [&to](const std::string& value) {
    const char* const end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, to);
    if (error != std::errc() || stop != end || !(to >= 0) || to > 1e9) {
      throw std::runtime_error("must be a number from 0 to 1e9");
    }
  };
}

template <class Duration>
Setter duration(Duration& to, std::int64_t least, std::int64_t most) {
  return [&to, least, most](const std::string& value) {
    std::int64_t count = 0;
    number(count, least, most)(value);
    to = Duration(count);
  };
}

Setter flag(bool& to) {
  return [&to](const std::string& value) {
    if (value != "yes" && value != "no") throw std::runtime_error("must be yes or no");
    to = value == "yes";
  };
}

Setter text(std::string& to) {
  return [&to](const std::string& value) { to = value; };
}

Setter list(std::vector<std::string>& to, char separator = ',') {
  return [&to, separator](const std::string& value) { to = list_of(value, separator); };
}

Setter operations(std::uint32_t& to) {
  return [&to](const std::string& value) {
    to = 0;
    for (const std::string& name : list_of(value)) {
      const auto found =
          std::ranges::find(kOperationNames, name, [](const char* n) { return std::string(n); });
      if (found == kOperationNames.end()) throw std::runtime_error("there is no operation " + name);
      to |= 1U << (found - kOperationNames.begin());
    }
  };
}

Setters setters_of(Config& config) {
  constexpr std::size_t kMany = 1U << 24;
  return {{"socket", text(config.socket)},
          {"socket_mode", number(config.socket_mode, 0U, 0777U, 8)},
          {"readers", number(config.readers, 1U, 64U)},
          {"max_connections", number(config.max_connections, std::size_t{1}, kMany)},
          {"max_connections_per_user", number(config.max_connections_per_user, std::size_t{1}, kMany)},
          {"max_outstanding", number(config.max_outstanding, 1U, kMaxOutstanding)},
          {"max_key_bits", number(config.max_key_bits, 1024U, std::uint32_t{MM_RSA_MAX_BITS})},
          {"max_message", number(config.max_message, 64U, 65'536U)},
          {"lock_memory", flag(config.lock_memory)},
          {"sandbox", flag(config.sandbox)},
          {"device", text(config.device)},
          {"threads", number(config.threads, 0U, 1024U)},
          {"concurrent", number(config.concurrent, 0U, 1024U)},
          {"max_queue", number(config.max_queue, std::size_t{1}, kMany)},
          {"max_batch", number(config.max_batch, std::size_t{0}, kMany)},
          {"deadline_us", duration(config.deadline, 0, 1'000'000)},
          {"rate", real(config.rate)},
          {"burst", real(config.burst)},
          {"observers", list(config.observers.users)},
          {"observer_peers", list(config.observers.peers)},
          {"metrics_file", text(config.metrics_file)},
          {"interval_s", duration(config.interval, 1, 86'400)},
          {"audit_requests", flag(config.audit_requests)}};
}

Setters setters_of(KeyConfig& key) {
  return {{"file", text(key.file)},
          {"credential", text(key.credential)},
          {"password_file", text(key.password_file)},
          {"module", text(key.token.module)},
          {"token", text(key.token.token)},
          {"object", text(key.token.object)},
          {"pin_file", text(key.token.pin_file)},
          {"users", list(key.access.users)},
          {"groups", list(key.access.groups)},
          {"peers", list(key.access.peers)},
          {"subjects", list(key.access.subjects, ';')},  // which have commas
          {"operations", operations(key.operations)}};
}

Setters setters_of(TcpConfig& tcp) {
  return {{"listen", text(tcp.listen)},
          {"certificate", text(tcp.files.certificate)},
          {"key", text(tcp.files.key)},
          {"key_credential", text(tcp.key_credential)},
          {"ca", text(tcp.files.ca)},
          {"revoked", text(tcp.files.revoked)},
          {"stall_ms", duration(tcp.stall, 1, 600'000)}};
}

void read_section(const CONF* conf, const std::string& section, const Setters& setters) {
  const STACK_OF(CONF_VALUE)* const values = NCONF_get_section(conf, section.c_str());
  for (int i = 0; i < sk_CONF_VALUE_num(values); ++i) {
    const CONF_VALUE* const value = sk_CONF_VALUE_value(values, i);
    const std::string where = "[" + section + "] " + value->name;
    const auto setter = setters.find(value->name);
    if (setter == setters.end()) throw std::runtime_error(where + ": there is no such setting");
    try {
      setter->second(value->value);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(where + " " + error.what());
    }
  }
}

// Logs and metrics have the name of a key as it is, and the protocol up to 255 bytes of it.
std::string key_name(const std::string& section) {
  const std::string name = section.substr(kKeySection.size());
  const bool good = !name.empty() && name.size() <= kMaxKeyName && std::ranges::all_of(name, [](char c) {
    return c > ' ' && c < '\x7f' && c != '"' && c != '\\';
  });
  if (good) return name;
  throw std::runtime_error("[" + section + "]: the name of a key has 1 to " + std::to_string(kMaxKeyName) +
                           " printable characters of ASCII, no spaces, quotation marks and backslashes");
}

KeyConfig read_key(const CONF* conf, const std::string& section, const std::filesystem::path& folder) {
  KeyConfig key;
  key.name = key_name(section);
  key.operations = kUsualOperations;
  read_section(conf, section, setters_of(key));
  const int sources =
      (key.file.empty() ? 0 : 1) + (key.credential.empty() ? 0 : 1) + (key.token.module.empty() ? 0 : 1);
  if (sources != 1) throw std::runtime_error("[" + section + "]: give one of file, credential and module");
  for (std::string* file : {&key.file, &key.password_file, &key.token.pin_file}) {
    if (!file->empty()) *file = (folder / *file).string();
  }
  return key;
}

void read_tcp(const CONF* conf, const std::filesystem::path& folder, TcpConfig& tcp) {
  read_section(conf, "tcp", setters_of(tcp));
  static_cast<void>(parse_endpoint(tcp.listen));
  TlsFiles& files = tcp.files;
  if (files.key.empty() == tcp.key_credential.empty()) {
    throw std::runtime_error("[tcp]: give one of key and key_credential");
  }
  if (!tcp.key_credential.empty()) files.key = credential_path(tcp.key_credential);
  if (files.certificate.empty() || files.ca.empty())
    throw std::runtime_error("[tcp]: give certificate and ca");
  for (std::string* file : {&files.certificate, &files.key, &files.ca, &files.revoked}) {
    if (!file->empty()) *file = (folder / *file).string();
  }
}

void read_any(const CONF* conf, const std::string& section, const std::filesystem::path& folder,
              Config& config) {
  if (section == "daemon") {
    read_section(conf, section, setters_of(config));
  } else if (section == "tcp") {
    read_tcp(conf, folder, config.tcp);
  } else if (section.starts_with(kKeySection)) {
    config.keys.push_back(read_key(conf, section, folder));
  } else if (section != "default" || sk_CONF_VALUE_num(NCONF_get_section(conf, "default")) > 0) {
    throw std::runtime_error("there is no section [" + section + "]");
  }
}

// Clients accept rings up to a size, and would all be unavailable with larger ones.
void require_possible_rings(const Config& config) {
  const Welcome sizes = ring_sizes(limits_of(config));
  const std::uint32_t longer = std::max(sizes.request_bytes, sizes.answer_bytes);
  if (longer <= kMaxRingBytes) return;
  throw std::runtime_error("[daemon] max_outstanding = " + std::to_string(config.max_outstanding) +
                           " and max_key_bits = " + std::to_string(config.max_key_bits) + " need a ring of " +
                           std::to_string(longer) + " bytes, but clients accept " +
                           std::to_string(kMaxRingBytes) + " at most: lower one of them");
}

std::unique_ptr<CONF, FreeConf> load(const std::string& path) {
  std::unique_ptr<CONF, FreeConf> conf(NCONF_new(nullptr));
  if (!conf) throw std::bad_alloc();
  long line = -1;
  if (NCONF_load(conf.get(), path.c_str(), &line) == 1) return conf;
  ERR_clear_error();
  throw std::runtime_error(line > 0 ? path + ": line " + std::to_string(line) + " is malformed"
                                    : path + " cannot be read");
}

}  // namespace

Config load_config(const std::string& path) {
  const auto conf = load(path);
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  const std::unique_ptr<STACK_OF(OPENSSL_CSTRING), FreeConf> names(NCONF_get_section_names(conf.get()));
  Config config;
  for (int i = 0; i < sk_OPENSSL_CSTRING_num(names.get()); ++i) {
    read_any(conf.get(), sk_OPENSSL_CSTRING_value(names.get(), i), folder, config);
  }
  require_possible_rings(config);
  std::ranges::sort(config.keys, {}, &KeyConfig::name);
  return config;
}

Limits limits_of(const Config& config) {
  return {config.max_outstanding, std::max(config.max_message, config.max_key_bytes()),
          std::max(kLongestEcResult, config.max_key_bytes())};
}

std::string credential_path(const std::string& name) {
  const char* const folder = std::getenv("CREDENTIALS_DIRECTORY");
  if (folder == nullptr) throw std::runtime_error("a credential, but CREDENTIALS_DIRECTORY is not set");
  return (std::filesystem::path(folder) / name).string();
}

const char* operation_name(std::size_t operation) {
  return operation < kOperationNames.size() ? kOperationNames[operation] : "?";
}

}  // namespace manymod::signd
