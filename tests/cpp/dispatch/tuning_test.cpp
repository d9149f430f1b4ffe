// SPDX-License-Identifier: Apache-2.0
// Tuning files: rows that are read, rows that are left out with a note, malformed files.
#include "dispatch/tuning.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/status_error.hpp"
#include "dispatch/tuning_files.hpp"

namespace manymod::testing {
namespace {

class Tuning : public ::testing::Test {
 protected:
  Tuning() : variants_(2) {
    variants_[0].name = "toy.a";
    variants_[0].public_operations = kAllOperations;
    variants_[1].name = "toy.b";
    variants_[1].public_operations = operation_bit(Operation::powmod);
    variants_[1].secret_operations = operation_bit(Operation::powmod);
  }

  [[nodiscard]] TuningTable parse(const std::string& text) const {
    return parse_tuning(text, "some.tuning", variants_, shipped_);
  }

  void expect_refused(const std::string& text, std::initializer_list<const char*> words) const {
    try {
      static_cast<void>(parse(text));
      FAIL() << "accepted: " << text;
    } catch (const StatusError& error) {
      EXPECT_EQ(error.status(), MM_ERR_TUNING);
      const std::string message = error.what();
      EXPECT_NE(message.find("'some.tuning'"), std::string::npos) << message;
      for (const char* word : words) EXPECT_NE(message.find(word), std::string::npos) << message;
    }
  }

  const std::string header_ = "manymod-tuning\t1\tSome CPU\t2026-11-22\n";
  std::vector<Variant> variants_;
  std::vector<TuningRow> shipped_;
};

TEST_F(Tuning, Rows) {
  const TuningTable table = parse("# made by hand\n\n" + header_ +
                                  "powmod\tpublic\t1\t384\t2\ttoy.b\t12 ns, 1.5x\n"
                                  "# more\n"
                                  "powmod\tsecret\t385\t16384\t16777216\ttoy.b\t\r\n"
                                  "mulmod\tpublic\t1\t1\t1\ttoy.a\tno newline");
  EXPECT_EQ(table.source, "some.tuning");
  EXPECT_EQ(table.processor, "Some CPU");
  EXPECT_EQ(table.date, "2026-11-22");
  EXPECT_EQ(table.notes, "");
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows[0].op, Operation::powmod);
  EXPECT_EQ(table.rows[0].timing, TimingClass::public_);
  EXPECT_EQ(table.rows[0].min_bits, 1u);
  EXPECT_EQ(table.rows[0].max_bits, 384u);
  EXPECT_EQ(table.rows[0].min_items, 2u);
  EXPECT_EQ(table.rows[0].variant, "toy.b");
  EXPECT_EQ(table.rows[0].evidence, "12 ns, 1.5x");
  EXPECT_EQ(table.rows[1].timing, TimingClass::secret);
  EXPECT_EQ(table.rows[1].min_items, kMaxMinItems);
  EXPECT_EQ(kMaxMinItems, 16777216u);
  EXPECT_EQ(table.rows[1].evidence, "");
  EXPECT_EQ(table.rows[2].evidence, "no newline");
  EXPECT_TRUE(parse(header_).rows.empty());
}

TEST_F(Tuning, UnusableRowsAreNoted) {
  const TuningTable table = parse(header_ +
                                  "powmod\tpublic\t1\t64\t1\tother.machine\tx\n"
                                  "powmod\tpublic\t1\t64\t1\ttoy.a\tx\n"
                                  "powmod\tsecret\t1\t64\t1\ttoy.a\tx\n");
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.notes,
            "line 2 left out: this build has no variant 'other.machine'\n"
            "line 4 left out: 'toy.a' does not offer powmod in constant time");
}

TEST_F(Tuning, NotesAreLimited) {
  std::string text = header_;
  for (std::size_t i = 0; i < kMaxTuningNotes + 7; ++i) text += "powmod\tpublic\t1\t64\t1\tother\tx\n";
  const std::string notes = parse(text).notes;
  EXPECT_EQ(static_cast<std::size_t>(std::count(notes.begin(), notes.end(), '\n')), kMaxTuningNotes);
  EXPECT_TRUE(notes.ends_with("\n7 more lines left out")) << notes;
  text = header_;
  for (std::size_t i = 0; i < kMaxTuningNotes; ++i) text += "powmod\tpublic\t1\t64\t1\tother\tx\n";
  EXPECT_EQ(parse(text).notes.find("more lines"), std::string::npos);
}

TEST_F(Tuning, ShippedRowsCompleteAFile) {
  shipped_.push_back({Operation::powmod, TimingClass::public_, 1, 64, 1, "toy.a", "shipped"});
  shipped_.push_back({Operation::powmod, TimingClass::secret, 1, 64, 1, "toy.b", "shipped"});
  const TuningTable table = parse(header_ + "powmod\tpublic\t1\t64\t1\ttoy.b\tmeasured\n");
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].evidence, "measured");
  EXPECT_EQ(table.rows[1].timing, TimingClass::secret);
  EXPECT_EQ(parse(header_ + "powmod\tpublic\t1\t64\t1\tnone\tx\n").rows.size(), 2u);
}

// MANYMOD_TUNING may name any file that the process can read.
TEST_F(Tuning, TextOfOtherFilesIsNotShown) {
  for (const char* text :
       {"root:secret:19000:0\n", "# comment\nsecret\tsecret\n", "secret\x01", "\n\nsecret"}) {
    try {
      static_cast<void>(parse(text));
      FAIL() << "accepted: " << text;
    } catch (const StatusError& error) {
      EXPECT_EQ(std::string(error.what()).find("secret"), std::string::npos) << error.what();
    }
  }
}

TEST_F(Tuning, MalformedFiles) {
  const auto refused_row = [this](const std::string& row, const char* word) {
    expect_refused(header_ + "powmod\tpublic\t1\t64\t1\ttoy.a\tfine\n" + row + "\n", {"line 3", word});
  };
  expect_refused("", {"header"});
  expect_refused("\n\n", {"line 2", "header"});
  expect_refused("powmod\tpublic\t1\t64\t1\ttoy.a\tx\n", {"line 1", "is no tuning file", "'manymod-tuning'"});
  expect_refused("manymod-tuning\n", {"line 1", "1 tab-separated fields"});
  expect_refused("manymod-tuning\t2\tcpu\tdate\n", {"line 1", "version '2'"});
  expect_refused("manymod-tuning\t1\tcpu\n", {"line 1", "3 tab-separated fields, expected 4"});
  refused_row("powmod", "1 tab-separated fields, expected 7");
  refused_row("powmod\tpublic\t1\t64\t1\ttoy.a", "6 tab-separated fields");
  refused_row("powmod\tpublic\t1\t64\t1\ttoy.a\tx\ty", "8 tab-separated fields");
  refused_row("powmod public 1 64 1 toy.a x", "1 tab-separated fields");
  refused_row("\t\t\t\t\t\t", "no operation ''");
  refused_row("powmodx\tpublic\t1\t64\t1\ttoy.a\tx", "no operation 'powmodx'");
  refused_row("powmod\tPublic\t1\t64\t1\ttoy.a\tx", "'Public'");
  refused_row("powmod\tpublic\t0\t64\t1\ttoy.a\tx", "min_bits is '0'");
  refused_row("powmod\tpublic\t-1\t64\t1\ttoy.a\tx", "min_bits is '-1'");
  refused_row("powmod\tpublic\t 1\t64\t1\ttoy.a\tx", "min_bits is ' 1'");
  refused_row("powmod\tpublic\t1\t64.0\t1\ttoy.a\tx", "max_bits is '64.0'");
  refused_row("powmod\tpublic\t1\t16385\t1\ttoy.a\tx", "max_bits is '16385'");
  refused_row("powmod\tpublic\t65\t64\t1\ttoy.a\tx", "min_bits is greater");
  refused_row("powmod\tpublic\t1\t64\t0\ttoy.a\tx", "min_items is '0'");
  refused_row("powmod\tpublic\t1\t64\t16777217\ttoy.a\tx", "min_items is '16777217'");
  refused_row("powmod\tpublic\t1\t64\t\ttoy.a\tx", "min_items is ''");
  refused_row("powmod\tpublic\t1\t64\t18446744073709551617\ttoy.a\tx", "min_items is '18446744073709551617'");
  refused_row("powmod\tpublic\t1\t" + std::string(5000, '9') + "\t1\ttoy.a\tx", "99..'");
  refused_row("powmod\tpublic\t1\t64\t1\t\tx", "name is empty");
  refused_row("powmod\tpublic\t1\t64\t1\ttoy.a\t\x01", "printable");
  refused_row("powmod\tpublic\t1\t64\t1\ttoy.a\t\xc3\xa9", "printable");
  refused_row(std::string("powmod\0\tpublic", 14), "printable");
}

TEST_F(Tuning, TooManyRows) {
  std::string text = header_;
  for (std::size_t i = 0; i < kMaxTuningRows; ++i) text += "powmod\tpublic\t1\t64\t1\ttoy.a\tx\n";
  EXPECT_EQ(parse(text).rows.size(), kMaxTuningRows);
  text += "powmod\tpublic\t1\t64\t1\ttoy.a\tx\n";
  expect_refused(text, {"line 10002", "more than 10000 rows"});
}

TEST(EmbeddedTuning, EachRowNamesAVariantThatOffersTheOperation) {
  std::size_t rows = 0;
  for (const TuningFile& file : embedded_tuning_files()) {
    const TuningTable table = parse_tuning(file.text, std::string(file.name), registry(), {});
#if MANYMOD_X86_64
    EXPECT_EQ(table.notes, "") << file.name;  // other processors' builds lack some variants
#endif
    EXPECT_FALSE(table.rows.empty()) << file.name;
    for (const TuningRow& row : table.rows) EXPECT_FALSE(row.evidence.empty()) << file.name;
    rows += table.rows.size();
  }
  EXPECT_EQ(shipped_tuning().rows.size(), rows);
  EXPECT_EQ(shipped_tuning().source, "");
  EXPECT_EQ(shipped_tuning().notes, "");
}

// The first applicable row decides, and rows for GPUs require more items than rows for CPUs.
TEST(EmbeddedTuning, RowsOfGpusPrecedeThoseOfCpus) {
  const auto on_gpu = [](const TuningRow& row) { return row.variant.find(".cuda.") != std::string::npos; };
  const std::vector<TuningRow>& rows = shipped_tuning().rows;
  EXPECT_TRUE(std::is_partitioned(rows.begin(), rows.end(), on_gpu));
  EXPECT_TRUE(on_gpu(rows.front()));
  EXPECT_FALSE(on_gpu(rows.back()));
}

}  // namespace
}  // namespace manymod::testing
