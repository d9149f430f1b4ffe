// SPDX-License-Identifier: Apache-2.0
#include "dispatch/tuning.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>

#include "core/environment.hpp"
#include "core/published_once.hpp"
#include "core/status_error.hpp"
#include "dispatch/tuning_files.hpp"

namespace manymod {
namespace {

// The embedded files as one table. It has no notes, since a build without the variants of other processors is
// not an error in the files.
TuningTable embedded_table() {
  TuningTable table;
  for (const TuningFile& file : embedded_tuning_files()) {
    TuningTable part = parse_tuning(file.text, std::string(file.name), registry(), {});
    if (!table.processor.empty()) table.processor += ", ";
    table.processor += part.processor;
    table.date = std::max(table.date, part.date);
    table.rows.insert(table.rows.end(), std::make_move_iterator(part.rows.begin()),
                      std::make_move_iterator(part.rows.end()));
  }
  return table;
}

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;

// A table that was once in use is never destroyed: callers of the C ABI hold its strings.
struct Published {
  TuningTable table;
  const Published* before = nullptr;
};

std::atomic<const Published*> newest{nullptr};

void publish(TuningTable table) {
  auto fresh = std::make_unique<Published>();
  fresh->table = std::move(table);
  fresh->before = newest.load(std::memory_order_acquire);
  while (!newest.compare_exchange_weak(fresh->before, fresh.get(), std::memory_order_acq_rel)) continue;
  [[maybe_unused]] const Published* const owned_by_newest = fresh.release();
}

/// Publishes the table unless there is one already: a concurrent load_tuning takes precedence.
const TuningTable& publish_first(TuningTable table) {
  auto fresh = std::make_unique<Published>();
  fresh->table = std::move(table);
  const Published* found = nullptr;
  if (newest.compare_exchange_strong(found, fresh.get(), std::memory_order_acq_rel)) {
    return fresh.release()->table;
  }
  return found->table;
}

[[noreturn]] void throw_unreadable(const std::string& path, const std::string& why) {
  throw StatusError(MM_ERR_TUNING, "tuning file '" + path + "': " + why);
}

// Regular files only: reading a pipe might block forever.
std::string file_text(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    throw_unreadable(path, error ? error.message() : "no such file");
  }
  if (!std::filesystem::is_regular_file(status)) throw_unreadable(path, "is not a regular file");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw_unreadable(path, "cannot be opened");
  std::string text(kMaxFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) throw_unreadable(path, "cannot be read");
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMaxFileBytes) {
    throw_unreadable(path, "is longer than " + std::to_string(kMaxFileBytes) + " bytes");
  }
  return text;
}

TuningTable table_of_file(const std::string& path) {
  return parse_tuning(file_text(path), path, registry(), shipped_tuning().rows);
}

}  // namespace

const TuningTable& shipped_tuning() {
  static constinit PublishedForever<TuningTable> table;
  return *table.get([] { return std::make_unique<const TuningTable>(embedded_table()); });
}

const TuningTable& tuning_table() {
  if (const Published* published = newest.load(std::memory_order_acquire)) return published->table;
  const char* path = environment_variable("MANYMOD_TUNING");
  if (path == nullptr || *path == '\0') return publish_first(shipped_tuning());
  try {
    return publish_first(table_of_file(path));
  } catch (const StatusError& error) {
    throw StatusError(error.status(), std::string(error.what()) + " (MANYMOD_TUNING)");
  }
}

void load_tuning(const char* path) { publish(path == nullptr ? shipped_tuning() : table_of_file(path)); }

}  // namespace manymod
