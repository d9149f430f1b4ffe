// SPDX-License-Identifier: Apache-2.0
#include "server/metrics.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string_view>

#include "common/descriptor.hpp"

namespace manymod::signd {
namespace {

constexpr std::array<const char*, kStatuses> kStatusNames = {
    "ok", "busy", "denied", "unknown_key", "unsupported", "rejected", "expired", "failed"};

// A label's value, as the format wants it.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out + '"';
}

class Text {
 public:
  void family(const char* name, const char* type, const char* help) {
    name_ = std::string("manymod_signd_") + name;
    text_ += "# HELP " + name_ + " " + help + "\n# TYPE " + name_ + " " + type + "\n";
  }
  void value(const std::string& labels, const std::string& value, const char* suffix = "") {
    text_ += name_ + suffix + (labels.empty() ? "" : "{" + labels + "}") + " " + value + "\n";
  }
  template <std::integral T>
  void value(const std::string& labels, T number, const char* suffix = "") {
    value(labels, std::to_string(number), suffix);
  }
  template <std::integral T>
  void single(const char* name, const char* type, const char* help, T number) {
    family(name, type, help);
    value("", number);
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_, name_;
};

std::string seconds(std::uint64_t ns) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9f", static_cast<double>(ns) * 1e-9);
  return text.data();
}

std::uint64_t processor_ns() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto ns = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(time.tv_usec) * 1'000;
  };
  return ns(use.ru_utime) + ns(use.ru_stime);
}

void add_times(Text& text, const char* name, const char* help, const mm_service_times& times) {
  text.family(name, "gauge", help);
  text.value("quantile=\"0.5\"", seconds(times.p50));
  text.value("quantile=\"0.95\"", seconds(times.p95));
  text.value("quantile=\"0.99\"", seconds(times.p99));
  text.value("quantile=\"1\"", seconds(times.max));
}

void add_batch_sizes(Text& text, const mm_service_statistics& all) {
  text.family("batch_size", "histogram", "Requests of a batch.");
  std::uint64_t batches = 0;
  for (std::size_t i = 0; i < std::size(all.batch_sizes); ++i) {
    if (batches == all.batches) break;
    batches += all.batch_sizes[i];
    text.value("le=\"" + std::to_string((std::uint64_t{2} << i) - 1) + "\"", batches, "_bucket");
  }
  text.value("le=\"+Inf\"", all.batches, "_bucket");
  text.value("", all.computed + all.failed, "_sum");
  text.value("", all.batches, "_count");
}

void add_service(Text& text, const mm_service_statistics& all) {
  text.single("waiting", "gauge", "Requests that wait.", all.waiting);
  text.single("running", "gauge", "Requests that are being computed.", all.running);
  add_batch_sizes(text, all);
  add_times(text, "queued_seconds", "From acceptance to the begin of the batch, since the last reload.",
            all.queued);
  add_times(text, "computing_seconds", "Of batches, since the last reload.", all.computing);
  add_times(text, "answered_seconds", "From acceptance to the end of the batch, since the last reload.",
            all.answered);
}

void add_uses(Text& text, const UseLog& uses) {
  const std::vector<Use> totals = uses.totals();
  const auto add = [&](const char* name, const char* help, std::uint64_t Use::* count) {
    text.family(name, "counter", help);
    for (const Use& use : totals) {
      const std::size_t equals = use.principal.find('=');
      text.value("key=" + in_quotes(use.key) + "," + use.principal.substr(0, equals) + "=" +
                     in_quotes(std::string_view(use.principal).substr(equals + 1)) + ",operation=\"" +
                     operation_name(static_cast<std::size_t>(use.operation)) + "\"",
                 use.*count);
    }
  };
  add("key_requests_total", "Requests for a key by a user or a peer.", &Use::accepted);
  add("key_denied_total", "Requests that the key's access list denies.", &Use::denied);
}

}  // namespace

std::string metrics_text(const Counters& counters, const UseLog& uses, const Generation& generation) {
  Text text;
  text.family("answers_total", "counter", "Answers by status.");
  for (std::size_t i = 0; i < kStatuses; ++i) {
    text.value("status=" + in_quotes(kStatusNames[i]), counters.answers[i].load());
  }
  text.single("keys", "gauge", "Keys that are served.", generation.keys().size());
  text.single("connections", "gauge", "Clients with requests.", counters.open_connections.load());
  text.single("connections_total", "counter", "Clients that had requests.", counters.connections.load());
  text.single("refused_connections_total", "counter", "Refused connections.",
              counters.refused_connections.load());
  text.single("failed_handshakes_total", "counter", "TLS handshakes without an accepted certificate.",
              counters.failed_handshakes.load());
  text.single("protocol_errors_total", "counter", "Clients that were disconnected.",
              counters.protocol_errors.load());
  text.single("reloads_total", "counter", "Reloads of the configuration.", counters.reloads.load());
  text.single("failed_reloads_total", "counter", "Reloads that failed.", counters.failed_reloads.load());
  text.family("processor_seconds_total", "counter", "Processor time of all threads.");
  text.value("", seconds(processor_ns()));
  add_service(text, generation.service().statistics());
  add_uses(text, uses);
  return text.take();
}

// Only a regular file is replaced: rename() would remove whatever else is at the path, for instance the
// device /dev/null.
bool replace_file(const std::string& path, const std::string& text) noexcept {
  try {
    struct stat found{};
    if (lstat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode)) return false;
    const std::string beside = path + ".new";
    unlink(beside.c_str());  // of one that was killed; O_EXCL takes neither links nor pipes
    const Descriptor file(open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!file) return false;
    const bool whole = write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (whole && std::rename(beside.c_str(), path.c_str()) == 0) return true;
    unlink(beside.c_str());
  } catch (...) {  // NOLINT(bugprone-empty-catch): without memory there is no file
  }
  return false;
}

}  // namespace manymod::signd
