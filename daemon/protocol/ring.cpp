// SPDX-License-Identifier: Apache-2.0
#include "protocol/ring.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace manymod::signd {
namespace {

std::uint64_t acquired(std::uint64_t& word) { return std::atomic_ref(word).load(std::memory_order_acquire); }
void release(std::uint64_t& word, std::uint64_t value) {
  std::atomic_ref(word).store(value, std::memory_order_release);
}

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

RingMemory::RingMemory(int file, std::size_t request_bytes, std::size_t answer_bytes)
    : request_bytes_(request_bytes), answer_bytes_(answer_bytes) {
  void* const base =
      mmap(nullptr, file_bytes(request_bytes, answer_bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (base == MAP_FAILED) throw_errno("mapping the rings");
  base_ = static_cast<std::uint8_t*>(base);
}

RingMemory::~RingMemory() {
  if (base_ != nullptr) munmap(base_, file_bytes(request_bytes_, answer_bytes_));
}

RingMemory::RingMemory(RingMemory&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      request_bytes_(other.request_bytes_),
      answer_bytes_(other.answer_bytes_) {}

RingMemory& RingMemory::operator=(RingMemory&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(request_bytes_, other.request_bytes_);
  std::swap(answer_bytes_, other.answer_bytes_);
  return *this;
}

void RingMemory::keep_from_children() const {
  if (madvise(base_, file_bytes(request_bytes_, answer_bytes_), MADV_DONTFORK) != 0) throw_errno("madvise");
}

void fall_asleep(std::uint32_t& sleeps) {
  std::atomic_ref(sleeps).store(1, std::memory_order_relaxed);
  // Between this store and the reader's next load of the tail, as between the writer's store of the tail and
  // its load of `sleeps`: at least one of them sees the other's store.
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void wake_up(std::uint32_t& sleeps) { std::atomic_ref(sleeps).store(0, std::memory_order_relaxed); }

bool must_wake(std::uint32_t& sleeps) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const std::atomic_ref word(sleeps);
  return word.load(std::memory_order_relaxed) != 0 && word.exchange(0, std::memory_order_relaxed) != 0;
}

std::uint64_t RequestReader::tail() const { return acquired(words_->request_tail); }
bool RequestReader::empty() const { return tail() == head_; }

bool RequestReader::next(RequestHeader& header, Bytes& input) {
  if (head_ == known_tail_) known_tail_ = tail();
  const std::uint64_t there = known_tail_ - head_;
  if (there == 0) return false;
  if (there > ring_.size() || there < kRequestHeaderBytes) throw ProtocolError("an impossible position");
  RequestHeaderBytes bytes;
  ring_.read(head_, bytes);
  header = decode_request(bytes);
  if (header.input_bytes > max_input_ || request_record_bytes(header.input_bytes) > there) {
    throw ProtocolError("a request of " + std::to_string(header.input_bytes) + " bytes");
  }
  input.resize(header.input_bytes);
  ring_.read(head_ + kRequestHeaderBytes, input);
  head_ += request_record_bytes(header.input_bytes);
  return true;
}

void RequestReader::publish() { release(words_->request_head, head_); }

void AnswerWriter::append(std::uint64_t id, Status status, ByteSpan output) {
  const AnswerHeaderBytes header = encode({static_cast<std::uint32_t>(output.size()), status, id});
  ring_.write(tail_, header);
  ring_.write(tail_ + kAnswerHeaderBytes, output);
  tail_ += answer_record_bytes(output.size());
}

bool AnswerWriter::publish() {
  release(words_->answer_tail, tail_);
  return must_wake(words_->client_sleeps);
}

bool RequestWriter::append(const RequestHeaderBytes& header, ByteSpan input) {
  const std::size_t bytes = request_record_bytes(input.size());
  if (tail_ + bytes - acquired(words_->request_head) > ring_.size()) return false;
  ring_.write(tail_, header);
  ring_.write(tail_ + kRequestHeaderBytes, input);
  tail_ += bytes;
  return true;
}

bool RequestWriter::publish() {
  release(words_->request_tail, tail_);
  return must_wake(words_->daemon_sleeps);
}

bool AnswerReader::empty() const { return acquired(words_->answer_tail) == head_; }

bool AnswerReader::next(AnswerHeader& header, Bytes& output) {
  const std::uint64_t there = acquired(words_->answer_tail) - head_;
  if (there == 0) return false;
  if (there > ring_.size() || there < kAnswerHeaderBytes) throw ProtocolError("an impossible position");
  AnswerHeaderBytes bytes;
  ring_.read(head_, bytes);
  header = decode_answer(bytes);
  const std::size_t record = answer_record_bytes(header.output_bytes);
  if (record > there) throw ProtocolError("an answer that is too long");
  output.resize(header.output_bytes);
  ring_.read(head_ + kAnswerHeaderBytes, output);
  ring_.zero(head_ + kAnswerHeaderBytes, header.output_bytes);
  head_ += record;
  return true;
}

}  // namespace manymod::signd
