// SPDX-License-Identifier: Apache-2.0
// The cache of compiled kernels: what is stored is found, and nothing that is not exactly that.
#include "gpu/opencl/binary_cache.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

namespace manymod::opencl {
namespace {

namespace fs = std::filesystem;

class OpenclBinaryCache : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "manymod-cache-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    parent_ = pattern;
    cache_ = BinaryCache(parent_ / "kernels");
  }
  void TearDown() override { fs::remove_all(parent_); }

  static Sha256Digest key(const std::string& text) {
    Sha256Sum hash;
    hash.add(text);
    return hash.digest();
  }
  static std::vector<std::uint8_t> contents(std::size_t bytes) {
    std::vector<std::uint8_t> all(bytes);
    for (std::size_t i = 0; i < bytes; ++i) all[i] = static_cast<std::uint8_t>(7 * i + bytes);
    return all;
  }
  [[nodiscard]] fs::path file(const std::string& text) const {
    return cache_.folder() / (hex_text(key(text)) + ".bin");
  }

  fs::path parent_;
  BinaryCache cache_{{}};
};

TEST_F(OpenclBinaryCache, FindsWhatWasStored) {
  EXPECT_FALSE(cache_.load(key("a")).has_value());
  cache_.store(key("a"), contents(1000));
  cache_.store(key("b"), contents(1));
  EXPECT_EQ(cache_.load(key("a")), contents(1000));
  EXPECT_EQ(cache_.load(key("b")), contents(1));
  EXPECT_FALSE(cache_.load(key("c")).has_value());
  cache_.store(key("a"), contents(5));
  EXPECT_EQ(cache_.load(key("a")), contents(5));
  cache_.remove(key("a"));
  EXPECT_FALSE(cache_.load(key("a")).has_value());
}

TEST_F(OpenclBinaryCache, FilesAreOfTheOwnerAlone) {
  cache_.store(key("a"), contents(10));
  struct stat status{};
  ASSERT_EQ(stat(cache_.folder().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  ASSERT_EQ(stat(file("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(std::distance(fs::directory_iterator(cache_.folder()), fs::directory_iterator()), 1);
}

TEST_F(OpenclBinaryCache, NothingOfADamagedFile) {
  cache_.store(key("a"), contents(100));
  const auto size = fs::file_size(file("a"));
  for (std::size_t at = 0; at < size; ++at) {
    std::fstream stream(file("a"), std::ios::in | std::ios::out | std::ios::binary);
    const auto position = static_cast<std::streamoff>(at);
    stream.seekg(position);
    const char byte = static_cast<char>(stream.get());
    stream.seekp(position);
    stream.put(static_cast<char>(byte ^ 4));
    stream.flush();
    EXPECT_FALSE(cache_.load(key("a")).has_value()) << at;
    stream.seekp(position);
    stream.put(byte);
  }
  EXPECT_TRUE(cache_.load(key("a")).has_value());
  for (const std::uintmax_t bytes : {std::uintmax_t{0}, std::uintmax_t{39}, size - 1, size + 1}) {
    cache_.store(key("a"), contents(100));
    fs::resize_file(file("a"), bytes);
    EXPECT_FALSE(cache_.load(key("a")).has_value()) << bytes;
  }
}

TEST_F(OpenclBinaryCache, NothingOfAnotherFile) {
  cache_.store(key("a"), contents(100));
  fs::rename(file("a"), file("b"));
  EXPECT_FALSE(cache_.load(key("b")).has_value());
  fs::rename(file("b"), parent_ / "elsewhere");
  fs::create_symlink(parent_ / "elsewhere", file("a"));
  EXPECT_FALSE(cache_.load(key("a")).has_value());
}

TEST_F(OpenclBinaryCache, NothingThatOthersCanWrite) {
  cache_.store(key("a"), contents(100));
  ASSERT_EQ(chmod(file("a").c_str(), 0666), 0);
  EXPECT_FALSE(cache_.load(key("a")).has_value());
  ASSERT_EQ(chmod(file("a").c_str(), 0600), 0);
  ASSERT_EQ(chmod(cache_.folder().c_str(), 0777), 0);
  EXPECT_FALSE(cache_.load(key("a")).has_value());
  cache_.store(key("b"), contents(1));
  EXPECT_FALSE(fs::exists(file("b")));
}

TEST_F(OpenclBinaryCache, RemovesTheLeastRecentlyUsed) {
  cache_.store(key("old"), contents(1));
  cache_.store(key("used"), contents(1));
  const auto past = fs::last_write_time(file("old")) - std::chrono::hours(1);
  fs::last_write_time(file("old"), past);
  fs::last_write_time(file("used"), past);
  for (std::size_t i = 2; i < BinaryCache::kMostFiles; ++i) {
    std::ofstream(file(std::to_string(i))) << i;
  }
  EXPECT_TRUE(cache_.load(key("used")).has_value());
  cache_.store(key("new"), contents(1));
  EXPECT_FALSE(cache_.load(key("old")).has_value());
  EXPECT_TRUE(cache_.load(key("used")).has_value());
  EXPECT_TRUE(cache_.load(key("new")).has_value());
}

TEST_F(OpenclBinaryCache, RemovesItsOwnFilesAlone) {
  cache_.store(key("a"), contents(1));
  const std::string digits = hex_text(key("b"));
  std::vector<fs::path> others;
  for (const std::string& name :
       {std::string("notes"), std::string("new.config"), std::string("2.bin"), digits,
        digits.substr(1) + ".bin", "0" + digits + ".bin", digits + "_bin"}) {
    others.push_back(cache_.folder() / name);
  }
  // Of a process that ended while it wrote the file.
  const fs::path unfinished = cache_.folder() / (digits + ".x8Yz_4");
  for (const fs::path& path : others) std::ofstream(path) << 1;
  std::ofstream(unfinished) << 1;
  const auto past = fs::last_write_time(file("a")) - std::chrono::hours(1);
  for (const fs::path& path : others) fs::last_write_time(path, past);
  fs::last_write_time(unfinished, past);
  for (std::size_t i = 1; i < BinaryCache::kMostFiles; ++i) std::ofstream(file(std::to_string(i))) << i;
  cache_.store(key("c"), contents(1));
  for (const fs::path& path : others) EXPECT_TRUE(fs::exists(path)) << path;
  EXPECT_FALSE(fs::exists(unfinished));
}

TEST_F(OpenclBinaryCache, WithoutAFolderIsNone) {
  const BinaryCache none({});
  none.store(key("a"), contents(1));
  EXPECT_FALSE(none.load(key("a")).has_value());
  const BinaryCache impossible("/dev/null/kernels");
  impossible.store(key("a"), contents(1));
  EXPECT_FALSE(impossible.load(key("a")).has_value());
}

TEST_F(OpenclBinaryCache, FolderOfTheEnvironment) {
  ASSERT_EQ(setenv("MANYMOD_OPENCL_CACHE", "/somewhere", 1), 0);
  EXPECT_EQ(BinaryCache::of_environment().folder(), "/somewhere");
  ASSERT_EQ(setenv("MANYMOD_OPENCL_CACHE", "off", 1), 0);
  EXPECT_TRUE(BinaryCache::of_environment().folder().empty());
  ASSERT_EQ(unsetenv("MANYMOD_OPENCL_CACHE"), 0);
}

/// FIPS 180-4 examples, and lengths around the padding's limits against each other.
TEST(Sha256, KnownAnswers) {
  const auto hex = [](const std::string& text) {
    Sha256Sum hash;
    hash.add(text);
    return hex_text(hash.digest());
  };
  EXPECT_EQ(hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

}  // namespace
}  // namespace manymod::opencl
