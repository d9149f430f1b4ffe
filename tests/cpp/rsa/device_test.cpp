// SPDX-License-Identifier: Apache-2.0
// RSA on the GPU of the fake driver, which runs at most 128 threads at once.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "core/ticker.hpp"
#include "rsa/test_calls.hpp"
#include "rsa/test_rings.hpp"
#include "support/brief.hpp"
#include "support/fake_cuda/fixture.hpp"

namespace manymod::testing {
namespace {

using rsa::FaultPoint;

const mm_rsa_padding kSigning = padding(MM_RSA_PKCS1V15, MM_SHA256);

class RsaOnGpu : public FakeGpuTest {
 protected:
  void SetUp() override {
    FakeGpuTest::SetUp();
    count_sums();
  }

  /// Count the batches whose halves are recombined on the GPU.
  void count_sums() {
    fake_cuda::add_kernel("mm_garner_sum", [this, sum = fake_cuda::kernel("mm_garner_sum")](
                                               const fake_cuda::Launch& launch, void** parameters) {
      ++sums_;
      sum(launch, parameters);
    });
  }
  unsigned sums_ = 0;

  /// From so many rows of one key on, the powers modulo p and modulo q are two batches. The GPU holds them
  /// all, so that they are one block.
  static constexpr std::size_t kTwoBatches = 512;
  static void hold_two_batches() { fake_cuda::settings().threads_per_multiprocessor = 2 * kTwoBatches; }

  // One thread per instance by default: the fake driver runs the threads of a group as fibers, which are
  // slow.
  static mm_rsa_ring_options options(const char* device, unsigned threads = 1,
                                     const char* variant = "row32.cuda.t1") {
    mm_rsa_ring_options options = ring_options(threads, device);
    options.variant = variant;
    return options;
  }

  static void expect_signatures(const Results& results, std::span<const std::size_t> bits,
                                std::span<const Bytes> messages, std::span<const std::uint32_t> key_of,
                                const mm_rsa_padding& wanted) {
    ASSERT_EQ(results.status, MM_OK) << mm_last_error();
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const TestKey& key = test_key(bits[key_of.empty() ? 0 : key_of[i]]);
      ASSERT_EQ(results.outputs[i], oracle_sign(key, messages[i], wanted)) << "item " << i;
    }
  }

  /// Signs with the keys of these lengths, of each item that of an index, and verifies the signatures.
  static void sign_and_verify(std::span<const std::size_t> bits, const std::vector<std::uint32_t>& key_of) {
    const RingPointer ring = make_ring(bits, options("cuda:0", 1, "row32.cuda.t2"));
    ASSERT_NE(ring, nullptr);
    const std::vector<Bytes> messages = messages_of(key_of.size());
    const Results ours = run(ring.get(), MM_RSA_SIGN, kSigning, messages, key_of);
    expect_signatures(ours, bits, messages, key_of, kSigning);
    const Results checked = run(ring.get(), MM_RSA_VERIFY, kSigning, messages, key_of, ours.outputs);
    EXPECT_EQ(count_of(checked.valid, 1), messages.size());
  }
};

/// Whichever step is short of memory: with what idle workspaces hold there is enough, or the call fails.
TEST_F(RsaOnGpu, CallsEndHoweverLittleMemoryThereIs) {
  const std::size_t bits[] = {1024};
  const std::vector<Bytes> messages = messages_of(4);
  constexpr std::size_t kStep = 1024, kMost = std::size_t{72} << 10, kLeast = std::size_t{36} << 10;
  bool has_failed = false, has_signed = false;
  for (std::size_t memory = kMost; memory >= kLeast; memory -= kStep) {
    SCOPED_TRACE(memory);
    const RingPointer ring = make_ring(bits, options("cuda:0"));
    ASSERT_NE(ring, nullptr);
    fake_cuda::settings().memory_bytes = memory;
    const Results results = run(ring.get(), MM_RSA_SIGN, kSigning, messages);
    fake_cuda::settings().memory_bytes = SIZE_MAX;
    if (results.status == MM_OK) {
      expect_signatures(results, bits, messages, {}, kSigning);
      has_signed = true;
    } else {
      EXPECT_EQ(results.status, MM_ERR_MEMORY) << mm_last_error();
      has_failed = true;
    }
  }
  EXPECT_TRUE(has_signed && has_failed);
}

// One item, a few, and enough that prepared primes are shared.
TEST_F(RsaOnGpu, SignaturesOfOneKey) {
  hold_two_batches();
  const std::size_t bits[] = {1024};
  for (const mm_rsa_blinding blinding : {MM_RSA_BLINDING_ON, MM_RSA_BLINDING_OFF}) {
    const RingPointer ring = make_ring(bits, with_blinding(options("cuda:0", 2), blinding));
    ASSERT_NE(ring, nullptr);
    EXPECT_EQ(std::string(mm_rsa_ring_variant(ring.get(), 0, 1, 1000)), "row32.cuda.t1");
    sums_ = 0;
    for (const std::size_t count : {std::size_t{1}, std::size_t{3}, kTwoBatches}) {
      if (kBriefTests && count > 3 && blinding == MM_RSA_BLINDING_OFF) continue;
      const std::vector<Bytes> messages = messages_of(count);
      const Results ours = run(ring.get(), MM_RSA_SIGN, kSigning, messages);
      expect_signatures(ours, bits, messages, {}, kSigning);
      EXPECT_EQ(count_of(ours.recomputed, 0), count);
    }
    EXPECT_EQ(sums_, kBriefTests && blinding == MM_RSA_BLINDING_OFF ? 2U : 3U);
  }
}

// The primes of the 1536-bit key have different lengths: the host recombines its halves.
TEST_F(RsaOnGpu, SignaturesOfManyKeys) {
  const std::size_t bits[] = {1024, 1031, 1536};
  if (kBriefTests) {
    sign_and_verify(bits, {1, 0});
  } else {
    sign_and_verify(bits, {0, 1, 2, 0});
  }
  EXPECT_EQ(sums_, 2U);
}

// Keys with the same number of limbs but different public exponents are computed in separate batches.
TEST_F(RsaOnGpu, DifferentExponentsOfOneLength) {
  if (kBriefTests) return;  // the same code as in the test above
  const std::size_t bits[] = {1031, 1040};
  sign_and_verify(bits, {0, 1, 1, 0, 1});
  EXPECT_EQ(sums_, 2U);
}

// The host combines the residues modulo three primes, and products modulo numbers of more than 8192 bits.
TEST_F(RsaOnGpu, LeavesKeysOfThreePrimesAndLongKeysToTheCpu) {
  const ThreePrimes primes;
  const mm_rsa_prime other = primes.other();
  const std::shared_ptr<const rsa::Key> keys[] = {rsa::key_from_numbers(primes.numbers(other))};
  const mm_rsa_ring_options cpu = ring_options(1, "cpu");
  const std::vector<Bytes> messages = messages_of(2);
  const Results ours = RingOfKeys(keys, options("cuda:0", 1, "row32.cuda.t2")).sign(messages);
  EXPECT_EQ(ours.status, MM_OK) << mm_last_error();
  EXPECT_EQ(ours.outputs, RingOfKeys(keys, cpu).sign(messages).outputs);
  EXPECT_EQ(sums_, 0U);
  EXPECT_TRUE(rsa::RingDevices::holds(128));
  EXPECT_FALSE(rsa::RingDevices::holds(129));

  Bytes modulus(2048, 0xff);
  const Bytes exponent{3};
  mm_rsa_numbers numbers{};
  numbers.struct_size = sizeof numbers;
  numbers.n = view_of(modulus);
  numbers.e = view_of(exponent);
  const std::shared_ptr<const rsa::Key> longest[] = {rsa::key_from_numbers(numbers)};
  mm_rsa_ring_options automatic = options("auto");
  automatic.variant = nullptr;
  const rsa::Ring ring(automatic, longest);
  EXPECT_EQ(ring.gpu_wave(TimingClass::public_, 100000), 0U);
  EXPECT_THROW(rsa::Ring(options("cuda:0"), longest), StatusError);
}

// A technique that holds n, where the products that prepare powers hold no number of that length: 129 limbs.
TEST_F(RsaOnGpu, PublicPowersOfKeysJustAboveTheLengthOfProducts) {
  Bytes modulus(1032, 0xff);  // 2^8256 - 105
  modulus.back() = 0x97;
  const Bytes exponent{3};
  mm_rsa_numbers numbers{};
  numbers.struct_size = sizeof numbers;
  numbers.n = view_of(modulus);
  numbers.e = view_of(exponent);
  mm_rsa_key* made = nullptr;
  ASSERT_EQ(mm_rsa_key_create(&numbers, &made), MM_OK) << mm_last_error();
  const std::unique_ptr<mm_rsa_key, void (*)(mm_rsa_key*)> key(made, mm_rsa_key_destroy);
  const std::vector<Bytes> inputs{{2}, Bytes(modulus.size(), 0x5a)};
  std::vector<Bytes> outputs;
  for (const mm_rsa_ring_options& chosen : {options("cuda:0", 1, "dpf52.cuda.t32"), ring_options(1, "cpu")}) {
    mm_rsa_ring* ring = nullptr;
    ASSERT_EQ(mm_rsa_ring_create(&chosen, &made, 1, &ring), MM_OK) << mm_last_error();
    const Results results = run(RingPointer(ring).get(), MM_RSA_PUBLIC, padding(MM_RSA_RAW), inputs);
    ASSERT_EQ(results.status, MM_OK) << mm_last_error();
    if (outputs.empty()) outputs = results.outputs;
    EXPECT_EQ(results.outputs, outputs);
  }
  EXPECT_EQ(outputs.front().back(), 8);
}

TEST_F(RsaOnGpu, Decryption) {
  const std::size_t bits[] = {1024, 1031};
  const RingPointer ring = make_ring(bits, options("cuda:0", 1, "row32.cuda.t2"));
  ASSERT_NE(ring, nullptr);
  const mm_rsa_padding oaep = padding(MM_RSA_OAEP, MM_SHA256);
  const std::vector<std::uint32_t> key_of =
      kBriefTests ? std::vector<std::uint32_t>{0, 1} : std::vector<std::uint32_t>{0, 0, 1, 0, 1, 1};
  const std::vector<Bytes> messages = messages_of(key_of.size(), 40);
  const Results encrypted = run(ring.get(), MM_RSA_ENCRYPT, oaep, messages, key_of);
  ASSERT_EQ(encrypted.status, MM_OK) << mm_last_error();
  EXPECT_EQ(run(ring.get(), MM_RSA_DECRYPT, oaep, encrypted.outputs, key_of).outputs, messages);
}

TEST_F(RsaOnGpu, FaultsInEitherHalfNeverLeave) {
  hold_two_batches();
  const std::size_t bits[] = {1024};
  RingOfKeys ring({1024}, options("cuda:0"));
  const auto expect_mended = [&](std::size_t count, FaultPoint half, std::size_t bit) {
    const std::vector<Bytes> messages = messages_of(count);
    const std::size_t row = bit % count;
    ring.flip(half, row, bit);
    const Results results = ring.sign(messages);
    expect_signatures(results, bits, messages, {}, kSigning);
    EXPECT_EQ(count_of(results.recomputed, 1), 1U);
    EXPECT_EQ(results.recomputed[row], 1);
  };
  for (const FaultPoint half : {FaultPoint::half_p, FaultPoint::half_q}) {
    for (const std::size_t bit : {0U, 64U, 511U}) {
      if (!kBriefTests || (bit == 511 && half == FaultPoint::half_q)) expect_mended(3, half, bit);
    }
  }
  if (kBriefTests) return;
  expect_mended(kTwoBatches, FaultPoint::half_q, 0);
}

// The GPU and page-locked memory, which the ring keeps for its next call, hold numbers during a call alone.
TEST_F(RsaOnGpu, NoNumberStays) {
  const std::size_t bits[] = {1024};
  const RingPointer ring = make_ring(bits, options("cuda:0"));
  ASSERT_NE(ring, nullptr);
  const auto holds = [](Bytes number) {
    std::ranges::reverse(number);  // limbs are little-endian
    return fake_cuda::holds(number.data(), number.size());
  };
  const mm_rsa_padding raw = padding(MM_RSA_RAW);
  Bytes message(test_key(1024).k(), 0x5a), result;
  bool seen = false;
  fake_cuda::add_kernel("mm_garner_sum", [&, sum = fake_cuda::kernel("mm_garner_sum")](
                                             const fake_cuda::Launch& launch, void** parameters) {
    seen = seen || holds(message);
    sum(launch, parameters);
  });
  const Bytes too_large(message.size(), 0xff);
  const Results results = run(ring.get(), MM_RSA_PRIVATE, raw, std::vector{message, too_large, message});
  EXPECT_EQ(results.item_status, (std::vector<std::uint8_t>{MM_OK, MM_ITEM_RSA_RANGE, MM_OK}));
  EXPECT_TRUE(seen);
  EXPECT_FALSE(holds(message));
  EXPECT_FALSE(holds(results.outputs.front()));
  const std::size_t launches = fake_cuda::counts().launches;
  EXPECT_GT(launches, 8U);

  // Nor does a call whose launches fail, each in its turn, leave them: it is computed in another way.
  fake_cuda::settings().launch_result = 801;  // CUDA_ERROR_NOT_SUPPORTED
  for (std::size_t launch = 0; launch < launches; launch += kBriefTests ? 4 : 1) {
    fake_cuda::settings().failing_launch = fake_cuda::counts().launches + launch;
    EXPECT_EQ(run(ring.get(), MM_RSA_PRIVATE, raw, std::vector<Bytes>{message}).outputs.front(),
              results.outputs.front());
    EXPECT_FALSE(holds(message)) << "launch " << launch;
    EXPECT_FALSE(holds(results.outputs.front())) << "launch " << launch;
  }
}

// Each result is computed again without the GPU, whose powers are skipped in the first check only.
TEST_F(RsaOnGpu, SkippedChecksAreFound) {
  const std::size_t bits[] = {1024};
  const std::vector<Bytes> messages = messages_of(3);
  for (const mm_rsa_blinding blinding : {MM_RSA_BLINDING_ON, MM_RSA_BLINDING_OFF}) {
    if (kBriefTests && blinding == MM_RSA_BLINDING_ON) continue;
    RingOfKeys ring({1024}, with_blinding(options("cuda:0"), blinding));
    ring.set_hook([skip = PowersAreSkipped(), recomputing = false](FaultPoint point, std::span<Limb> residues,
                                                                   std::size_t limbs) mutable {
      recomputing = recomputing || point == FaultPoint::without_crt;
      if (!recomputing) skip(point, residues, limbs);
    });
    const Results results = ring.sign(messages);
    expect_signatures(results, bits, messages, {}, kSigning);
    EXPECT_EQ(count_of(results.recomputed, 1), messages.size());
  }
}

// Each launch and each allocation of a call fails once.
TEST_F(RsaOnGpu, FailsOverToTheCpu) {
  const std::size_t bits[] = {1024};
  const std::vector<Bytes> messages = messages_of(4);
  const auto sign_with = [&](const char* device, auto set) {
    renew();
    RingOfKeys ring({1024}, options(device));
    set();
    return ring.sign(messages);
  };
  expect_signatures(sign_with("cuda:0", [] {}), bits, messages, {}, kSigning);
  const std::size_t launches = fake_cuda::counts().launches;
  ASSERT_GT(launches, 8U);
  for (std::size_t launch = 0; launch < launches; launch += kBriefTests ? 8 : 1) {
    const auto fail = [&] { fake_cuda::settings().faulting_launch = launch; };
    expect_signatures(sign_with("auto", fail), bits, messages, {}, kSigning);
    const Results failed = sign_with("cuda:0", fail);
    EXPECT_EQ(failed.status, MM_ERR_DEVICE);
    for (const Bytes& output : failed.outputs) EXPECT_TRUE(output.empty());
  }
  for (std::size_t allocation = 0; allocation < 4; ++allocation) {
    const auto fail = [&] { fake_cuda::settings().failing_allocation = allocation; };
    expect_signatures(sign_with("cuda:0", fail), bits, messages, {}, kSigning);
  }
}

// More items than fit in one block.
TEST_F(RsaOnGpu, ConcurrentBlocks) {
  const std::size_t bits[] = {1024};
  const RingPointer ring = make_ring(bits, options("cuda:0", 2));
  ASSERT_NE(ring, nullptr);
  const Bytes message = messages_of(1).front();
  const Bytes signature = oracle_sign(test_key(1024), message, kSigning);
  Bytes wrong = signature;
  wrong[40] ^= 1;
  constexpr std::size_t kCount = 500;
  const std::vector<Bytes> messages(kCount, message);
  std::vector<Bytes> signatures(kCount, signature);
  for (std::size_t i = 0; i < kCount; i += 50) signatures[i] = wrong;
  const Results results = run(ring.get(), MM_RSA_VERIFY, kSigning, messages, {}, signatures);
  ASSERT_EQ(results.status, MM_OK) << mm_last_error();
  for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(results.valid[i], i % 50 == 0 ? 0 : 1) << i;
}

// A block is cancelled between its steps.
TEST_F(RsaOnGpu, Stops) {
  fake_cuda::add_kernel("row32_1x16", [power = fake_cuda::kernel("row32_1x16")](
                                          const fake_cuda::Launch& launch, void** parameters) {
    std::this_thread::sleep_for(2 * kTickInterval);
    power(launch, parameters);
  });
  RingOfKeys ring({1024}, options("cuda:0"));
  for (const std::size_t count : {3U, 300U}) {
    const Results results =
        ring.sign(messages_of(count), {}, [](std::size_t, std::size_t, void*) { return 1; });
    EXPECT_EQ(results.status, MM_ERR_CANCELLED);
    EXPECT_EQ(count_of(results.item_status, MM_ITEM_NOT_COMPUTED), count);
    for (const Bytes& output : results.outputs) EXPECT_TRUE(output.empty());
  }
  EXPECT_EQ(sums_, 0U);
}

TEST_F(RsaOnGpu, VerificationGoesOnOnTheCpu) {
  const std::size_t bits[] = {1024};
  const std::vector<Bytes> messages = messages_of(5);
  const RingPointer cpu = make_ring(bits);
  std::vector<Bytes> signatures = run(cpu.get(), MM_RSA_SIGN, kSigning, messages).outputs;
  signatures[2][7] ^= 1;
  const auto verify_with = [&](const char* device, std::size_t faulting_launch) {
    renew();
    const RingPointer ring = make_ring(bits, options(device));
    fake_cuda::settings().faulting_launch = faulting_launch;
    return run(ring.get(), MM_RSA_VERIFY, kSigning, messages, {}, signatures);
  };
  const std::vector<std::uint8_t> expected{1, 1, 0, 1, 1};
  EXPECT_EQ(verify_with("cuda:0", fake_cuda::kNever).valid, expected);
  const std::size_t launches = fake_cuda::counts().launches;
  EXPECT_EQ(launches, 1U);
  EXPECT_EQ(verify_with("auto", 0).valid, expected);
  const Results failed = verify_with("cuda:0", 0);
  EXPECT_EQ(failed.status, MM_ERR_DEVICE);
  EXPECT_EQ(count_of(failed.valid, 0), messages.size());
}

}  // namespace
}  // namespace manymod::testing
