// SPDX-License-Identifier: Apache-2.0
// Tuning tables: which variant is fastest, as measured. The built-in rows, or those of a file.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/registry.hpp"

namespace manymod {

/// Among the rows that match the operation, timing class and width and whose variants can run, the first one
/// whose min_items does not exceed the number of items decides; without such a row the priorities of the
/// variants do. A row whose variant needs a shared modulus for the operation
/// (Variant::shared_modulus_operations) applies only to batches with one.
struct TuningRow {
  Operation op = Operation::powmod;
  TimingClass timing = TimingClass::public_;
  std::size_t min_bits = 1, max_bits = kMaxModulusBits;  ///< range of modulus widths
  /// Least number of items of a bucket, or of its remainder after full vectors, that the row applies to.
  std::size_t min_items = 1;
  std::string variant;
  std::string evidence;  ///< the measurement: the time of this variant and of the second fastest
};

/// A tuning table and its origin.
struct TuningTable {
  std::string source;     ///< path of the file; "" for the built-in rows alone
  std::string processor;  ///< the processor on which it was measured
  std::string date;
  std::string notes;  ///< the parts of the file that were skipped and why, one line each, at most
                      ///< kMaxTuningNotes of them
  std::vector<TuningRow> rows;
};

/// The built-in table.
const TuningTable& shipped_tuning();

/// The table in use, which lives as long as the process: that of the last load_tuning, else that of the file
/// that the environment variable MANYMOD_TUNING named at the first call, else the built-in one. Thread-safe.
/// @throws StatusError MM_ERR_TUNING while that file is missing or malformed
const TuningTable& tuning_table();

/// Use the rows of a file instead of the built-in ones of the operations and timing classes that it contains.
/// A null path restores the built-in rows. Thread-safe.
/// @throws StatusError MM_ERR_TUNING if the file is missing or malformed; the table in use then does not
/// change
void load_tuning(const char* path);

/// Largest number of rows of a file.
inline constexpr std::size_t kMaxTuningRows = 10'000;
/// Largest number of notes on a file; a further note counts those that were dropped.
inline constexpr std::size_t kMaxTuningNotes = 20;
/// Largest min_items of a row.
inline constexpr std::size_t kMaxMinItems = std::size_t{1} << 24;

/// Parse the text of a tuning file. Rows that name a variant which is not in `variants` or does not offer the
/// operation are skipped with a note. For operations and timing classes without a row in the text, the rows
/// of `shipped` are used.
/// @throws StatusError MM_ERR_TUNING; the message names `source` and the line
TuningTable parse_tuning(std::string_view text, const std::string& source, std::span<const Variant> variants,
                         std::span<const TuningRow> shipped);

}  // namespace manymod
