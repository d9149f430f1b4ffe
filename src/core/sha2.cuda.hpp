// SPDX-License-Identifier: Apache-2.0
// SHA-256, SHA-384, SHA-512 (FIPS 180-4) and HMAC (RFC 2104) of short messages in device code, by one thread
// for each message. It compiles for the host as well.
//
// A message is an array of big-endian words whose length in bytes is a compile-time constant, so that all of
// its words stay in registers until they are compressed.
//
// Timing: constant-time; it depends on lengths only.
#pragma once

#include <cstdint>

#include "core/portable.hpp"

namespace manymod::sha2 {

template <class Word, unsigned kCount>
struct ShaConstants {
  Word word[kCount];
};

/// The first 64 bits of the fractional parts of the cube roots of the first 80 primes (FIPS 180-4, 4.2.3);
/// the upper halves of the first 64 are those of SHA-256 (4.2.2).
struct ShaRoundConstants {
  MM_DEVICE static constexpr ShaConstants<std::uint64_t, 80> all() {
    return {
        0x428a2f98d728ae22u, 0x7137449123ef65cdu, 0xb5c0fbcfec4d3b2fu, 0xe9b5dba58189dbbcu,
        0x3956c25bf348b538u, 0x59f111f1b605d019u, 0x923f82a4af194f9bu, 0xab1c5ed5da6d8118u,
        0xd807aa98a3030242u, 0x12835b0145706fbeu, 0x243185be4ee4b28cu, 0x550c7dc3d5ffb4e2u,
        0x72be5d74f27b896fu, 0x80deb1fe3b1696b1u, 0x9bdc06a725c71235u, 0xc19bf174cf692694u,
        0xe49b69c19ef14ad2u, 0xefbe4786384f25e3u, 0x0fc19dc68b8cd5b5u, 0x240ca1cc77ac9c65u,
        0x2de92c6f592b0275u, 0x4a7484aa6ea6e483u, 0x5cb0a9dcbd41fbd4u, 0x76f988da831153b5u,
        0x983e5152ee66dfabu, 0xa831c66d2db43210u, 0xb00327c898fb213fu, 0xbf597fc7beef0ee4u,
        0xc6e00bf33da88fc2u, 0xd5a79147930aa725u, 0x06ca6351e003826fu, 0x142929670a0e6e70u,
        0x27b70a8546d22ffcu, 0x2e1b21385c26c926u, 0x4d2c6dfc5ac42aedu, 0x53380d139d95b3dfu,
        0x650a73548baf63deu, 0x766a0abb3c77b2a8u, 0x81c2c92e47edaee6u, 0x92722c851482353bu,
        0xa2bfe8a14cf10364u, 0xa81a664bbc423001u, 0xc24b8b70d0f89791u, 0xc76c51a30654be30u,
        0xd192e819d6ef5218u, 0xd69906245565a910u, 0xf40e35855771202au, 0x106aa07032bbd1b8u,
        0x19a4c116b8d2d0c8u, 0x1e376c085141ab53u, 0x2748774cdf8eeb99u, 0x34b0bcb5e19b48a8u,
        0x391c0cb3c5c95a63u, 0x4ed8aa4ae3418acbu, 0x5b9cca4f7763e373u, 0x682e6ff3d6b2b8a3u,
        0x748f82ee5defb2fcu, 0x78a5636f43172f60u, 0x84c87814a1f0ab72u, 0x8cc702081a6439ecu,
        0x90befffa23631e28u, 0xa4506cebde82bde9u, 0xbef9a3f7b2c67915u, 0xc67178f2e372532bu,
        0xca273eceea26619cu, 0xd186b8c721c0c207u, 0xeada7dd6cde0eb1eu, 0xf57d4f7fee6ed178u,
        0x06f067aa72176fbau, 0x0a637dc5a2c898a6u, 0x113f9804bef90daeu, 0x1b710b35131c471bu,
        0x28db77f523047d84u, 0x32caab7b40c72493u, 0x3c9ebe0a15c9bebcu, 0x431d67c49c100d4cu,
        0x4cc5d4becb3e42b6u, 0x597f299cfc657e2au, 0x5fcb6fab3ad6faecu, 0x6c44198c4a475817u,
    };
  }
  MM_DEVICE static constexpr std::uint64_t at(unsigned round) {
    constexpr ShaConstants<std::uint64_t, 80> kAll = all();
    return kAll.word[round];
  }
};

struct Sha256 {
  using Word = std::uint32_t;
  static constexpr unsigned kRounds = 64;
  static constexpr unsigned kDigestBytes = 32;
  static constexpr unsigned kSum[2][3] = {{2, 13, 22}, {6, 11, 25}};
  static constexpr unsigned kSchedule[2][3] = {{7, 18, 3}, {17, 19, 10}};
  static constexpr Word kStart[8] = {0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
                                     0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};

  MM_DEVICE static constexpr Word constant(unsigned round) {
    return static_cast<Word>(ShaRoundConstants::at(round) >> 32);
  }
};

struct Sha512 {
  using Word = std::uint64_t;
  static constexpr unsigned kRounds = 80;
  static constexpr unsigned kDigestBytes = 64;
  static constexpr unsigned kSum[2][3] = {{28, 34, 39}, {14, 18, 41}};
  static constexpr unsigned kSchedule[2][3] = {{1, 8, 7}, {19, 61, 6}};
  static constexpr Word kStart[8] = {0x6a09e667f3bcc908u, 0xbb67ae8584caa73bu, 0x3c6ef372fe94f82bu,
                                     0xa54ff53a5f1d36f1u, 0x510e527fade682d1u, 0x9b05688c2b3e6c1fu,
                                     0x1f83d9abfb41bd6bu, 0x5be0cd19137e2179u};

  MM_DEVICE static constexpr Word constant(unsigned round) { return ShaRoundConstants::at(round); }
};

/// SHA-512 with another start and a shorter digest.
struct Sha384 : Sha512 {
  static constexpr unsigned kDigestBytes = 48;
  static constexpr Word kStart[8] = {0xcbbb9d5dc1059ed8u, 0x629a292a367cd507u, 0x9159015a3070dd17u,
                                     0x152fecd8f70e5939u, 0x67332667ffc00b31u, 0x8eb44a8768581511u,
                                     0xdb0c2e0d64f98fa7u, 0x47b5481dbefa4fa4u};
};

/// A chaining value or a digest, whose first word has its first bytes.
template <class Hash>
struct ShaState {
  typename Hash::Word word[8];
};

template <class Hash>
class Sha2 {
 public:
  using Word = typename Hash::Word;
  using State = ShaState<Hash>;
  static constexpr unsigned kWordBytes = sizeof(Word);
  static constexpr unsigned kWordBits = 8 * kWordBytes;
  static constexpr unsigned kBlockBytes = 16 * kWordBytes;

  MM_DEVICE static State start() {
    constexpr ShaConstants<Word, 8> kStart = {Hash::kStart[0], Hash::kStart[1], Hash::kStart[2],
                                              Hash::kStart[3], Hash::kStart[4], Hash::kStart[5],
                                              Hash::kStart[6], Hash::kStart[7]};
    State r;
    MM_UNROLL
    for (unsigned i = 0; i < 8; ++i) r.word[i] = kStart.word[i];
    return r;
  }

  /// state = the state after 16 more words (FIPS 180-4, 6.2.2 and 6.4.2), or by the compression of another
  /// hash.
  MM_DEVICE_CALL static void compress(State& state, const Word* block) {
    if constexpr (requires { Hash::compress(state.word, block); }) {
      Hash::compress(state.word, block);
    } else {
      compress_sha2(state, block);
    }
  }

  /// state = the state after a message of kBytes bytes in whole words, padded here, which ends at byte
  /// kBefore + kBytes of all that is hashed. On input: kBefore is a multiple of a block; `message` has room
  /// for padded_words<kBytes>() words, which are 0 after the message.
  template <unsigned kBefore, unsigned kBytes>
  MM_DEVICE static void finish(State& state, Word* message) {
    constexpr unsigned kWords = padded_words<kBytes>();
    message[kBytes / kWordBytes] |= Word{0x80} << (kWordBits - 8 - 8 * (kBytes % kWordBytes));
    message[kWords - 1] = 8 * (kBefore + kBytes);
    MM_UNROLL
    for (unsigned at = 0; at < kWords; at += 16) compress(state, message + at);
  }

  /// The words of whole blocks for a message of kBytes bytes, the bit 1 and two words of length.
  template <unsigned kBytes>
  MM_DEVICE static constexpr unsigned padded_words() {
    return (kBytes + 1 + 2 * kWordBytes + kBlockBytes - 1) / kBlockBytes * 16;
  }

 private:
  MM_DEVICE static void compress_sha2(State& state, const Word* block) {
    Word w[16];
    MM_UNROLL
    for (unsigned i = 0; i < 16; ++i) w[i] = block[i];
    Word a = state.word[0], b = state.word[1], c = state.word[2], d = state.word[3];
    Word e = state.word[4], f = state.word[5], g = state.word[6], h = state.word[7];
    MM_UNROLL
    for (unsigned round = 0; round < Hash::kRounds; ++round) {
      if (round >= 16) extend(w, round);
      const Word first = h + sum<1>(e) + ((e & f) ^ (~e & g)) + Hash::constant(round) + w[round % 16];
      const Word second = sum<0>(a) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + first;
      d = c, c = b, b = a, a = first + second;
    }
    state.word[0] += a, state.word[1] += b, state.word[2] += c, state.word[3] += d;
    state.word[4] += e, state.word[5] += f, state.word[6] += g, state.word[7] += h;
  }
  MM_DEVICE static constexpr Word rotate(Word x, unsigned bits) {
    return x >> bits | x << (kWordBits - bits);
  }
  template <unsigned kWhich>
  MM_DEVICE static constexpr Word sum(Word x) {
    constexpr unsigned kA = Hash::kSum[kWhich][0], kB = Hash::kSum[kWhich][1], kC = Hash::kSum[kWhich][2];
    return rotate(x, kA) ^ rotate(x, kB) ^ rotate(x, kC);
  }
  template <unsigned kWhich>
  MM_DEVICE static constexpr Word mix(Word x) {
    constexpr unsigned kA = Hash::kSchedule[kWhich][0], kB = Hash::kSchedule[kWhich][1];
    constexpr unsigned kShift = Hash::kSchedule[kWhich][2];
    return rotate(x, kA) ^ rotate(x, kB) ^ x >> kShift;
  }
  MM_DEVICE static void extend(Word (&w)[16], unsigned round) {
    w[round % 16] += mix<1>(w[(round - 2) % 16]) + w[(round - 7) % 16] + mix<0>(w[(round - 15) % 16]);
  }
};

/// A message of kBytes bytes that is put together from its beginning.
template <class Hash, unsigned kBytes>
class ShaMessage {
 public:
  using Word = typename Hash::Word;
  static constexpr unsigned kWordBytes = sizeof(Word);

  MM_DEVICE ShaMessage() {
    MM_UNROLL
    for (unsigned i = 0; i < kWords; ++i) words_[i] = 0;
  }
  /// Byte `at` = the lowest eight bits of `byte`. Once for each byte.
  MM_DEVICE void set(unsigned at, std::uint32_t byte) {
    words_[at / kWordBytes] |= static_cast<Word>(byte & 255) << (8 * (kWordBytes - 1 - at % kWordBytes));
  }
  /// kSize bytes from `at` on = those of a number of 32-bit words, highest first (I2OSP).
  template <unsigned kSize>
  MM_DEVICE void set_number(unsigned at, const std::uint32_t* number) {
    MM_UNROLL
    for (unsigned i = 0; i < kSize; ++i) {
      const unsigned place = kSize - 1 - i;
      set(at + i, number[place / 4] >> (8 * (place % 4)));
    }
  }
  /// The bytes of a digest from `at` on.
  MM_DEVICE void set_digest(unsigned at, const ShaState<Hash>& digest) {
    MM_UNROLL
    for (unsigned i = 0; i < Hash::kDigestBytes; ++i) {
      const Word word = digest.word[i / kWordBytes];
      set(at + i, static_cast<std::uint32_t>(word >> (8 * (kWordBytes - 1 - i % kWordBytes))));
    }
  }
  template <unsigned kBefore>
  MM_DEVICE void hash(ShaState<Hash>& state) {
    Sha2<Hash>::template finish<kBefore, kBytes>(state, words_);
  }

 private:
  static constexpr unsigned kWords = Sha2<Hash>::template padded_words<kBytes>();
  Word words_[kWords];
};

/// HMAC with a key as long as a digest.
template <class Hash>
class Hmac {
 public:
  using Word = typename Hash::Word;
  using State = ShaState<Hash>;

  MM_DEVICE explicit Hmac(const State& key) {
    inner_ = padded(key, 0x36);
    outer_ = padded(key, 0x5c);
  }

  /// The code of a message; `message` is used up.
  template <unsigned kBytes>
  MM_DEVICE State code(ShaMessage<Hash, kBytes>& message) const {
    State r = inner_;
    message.template hash<Sha2<Hash>::kBlockBytes>(r);
    ShaMessage<Hash, Hash::kDigestBytes> digest;
    digest.set_digest(0, r);
    r = outer_;
    digest.template hash<Sha2<Hash>::kBlockBytes>(r);
    return r;
  }

 private:
  State inner_, outer_;

  MM_DEVICE static State padded(const State& key, std::uint32_t byte) {
    const Word pad = ~Word{0} / 255 * byte;
    Word block[16];
    MM_UNROLL
    for (unsigned i = 0; i < 16; ++i) {
      block[i] = (i < Hash::kDigestBytes / sizeof(Word) ? key.word[i] : 0) ^ pad;
    }
    State r = Sha2<Hash>::start();
    Sha2<Hash>::compress(r, block);
    return r;
  }
};

}  // namespace manymod::sha2
