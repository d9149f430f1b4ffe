// SPDX-License-Identifier: Apache-2.0
// Pollard's kangaroos on secp256k1, many for each thread: the device code of kangaroo.cu.
//
// A kangaroo at the point P jumps to P + J for one of kJumps points J, chosen by P's x. All kangaroos of a
// thread jump together, in affine coordinates and for one inversion: 5M + 1S and a part of the inversion for
// each of them. One pass over the kangaroos does their jumps and takes the denominators of the next ones into
// a running product; the next pass goes back the other way.
#pragma once

#include <cstddef>
#include <cstdint>

#include "manymod/device/points.cuh"

namespace kangaroo {

namespace device = manymod::device;
using Curve = device::Secp256k1;
using Field = Curve::Field;
using Element = Curve::Element;
using Affine = Curve::Affine;

inline constexpr unsigned kJumps = 32;

/// Four words that are accessed together.
struct alignas(16) Quad {
  std::uint32_t word[4];
};

/// r = a + b mod 2^128.
MM_DEVICE Quad sum(const Quad& a, const Quad& b) {
  Quad r;
  std::uint64_t carry = 0;
  MM_UNROLL
  for (unsigned j = 0; j < 4; ++j) {
    carry += std::uint64_t{a.word[j]} + b.word[j];
    r.word[j] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  return r;
}

/// An element in two quads that are `step` apart.
MM_DEVICE Element load(const Quad* quads, std::size_t step) {
  const Quad low = quads[0], high = quads[step];
  std::uint32_t words[Field::kWords];
  MM_UNROLL
  for (unsigned j = 0; j < 4; ++j) words[j] = low.word[j], words[4 + j] = high.word[j];
  return Field::from_words(words);
}
MM_DEVICE void store(Quad* quads, std::size_t step, const Element& a) {
  Quad low, high;
  MM_UNROLL
  for (unsigned j = 0; j < 4; ++j) low.word[j] = a.words[j], high.word[j] = a.words[4 + j];
  quads[0] = low;
  quads[step] = high;
}

/// A point to add, and the multiple of the generator that it is.
struct Jump {
  Quad x[2], y[2], distance;
};

/// The kangaroos: of number i, quad q at quads[q count + i], which neighbouring threads access together.
/// Number i is even for tame ones and odd for wild ones.
struct Herd {
  enum Part : unsigned { x = 0, y = 2, distance = 4, product = 5, kQuads = 7 };
  Quad* quads;
  std::uint32_t count;  ///< a multiple of `threads`: thread t has the kangaroos t, t + threads, ..
  std::uint32_t threads;

  MM_DEVICE Quad* at(Part part, std::uint32_t i) const { return quads + std::size_t{part} * count + i; }
  MM_DEVICE Affine point(std::uint32_t i) const { return {load(at(x, i), count), load(at(y, i), count)}; }
  MM_DEVICE void set_point(std::uint32_t i, const Affine& p) const {
    store(at(x, i), count, p.x);
    store(at(y, i), count, p.y);
  }
};

/// A kangaroo on a distinguished point: one whose x has 0 in the bits of a mask.
struct Sighting {
  Quad x[2], distance;
  std::uint32_t kangaroo;
};
struct Sightings {
  std::uint32_t* count;  ///< also of those beyond the capacity, which are lost
  Sighting* items;
  std::uint32_t capacity;

  MM_DEVICE void add(std::uint32_t kangaroo, const Element& x, const Quad& distance) const {
#if defined(__CUDA_ARCH__)
    const std::uint32_t at = atomicAdd(count, 1u);
#else
    const std::uint32_t at = (*count)++;
#endif
    if (at >= capacity) return;
    store(items[at].x, 1, x);
    items[at].distance = distance;
    items[at].kangaroo = kangaroo;
  }
};

/// Words of a scalar from a distance.
MM_DEVICE void widen(std::uint32_t (&k)[Curve::kOrderWords], const Quad& distance) {
  MM_UNROLL
  for (unsigned j = 0; j < Curve::kOrderWords; ++j) k[j] = j < 4 ? distance.word[j] : 0;
}

/// Put kangaroo i at base + distance G, with the distance that the herd has for it. base is neither infinity
/// nor -distance G.
MM_DEVICE void start(const Herd& herd, std::uint32_t i, const Affine& base) {
  std::uint32_t k[Curve::kOrderWords];
  widen(k, *herd.at(Herd::distance, i));
  herd.set_point(i, Curve::to_affine(Curve::add(Curve::multiply_public(Curve::generator(), k), base)));
}

MM_DEVICE Element difference(const Jump* jumps, const Element& x) {
  return Field::sub(load(jumps[x.words[0] % kJumps].x, 1), x);
}

/// `steps` jumps of each kangaroo of thread `thread` < herd.threads. On input: no kangaroo meets a point that
/// is to be added to it, or its opposite; x has one representation, but for a probability of 2^-223.
MM_DEVICE void walk(const Herd& herd, const Jump* jumps, std::uint32_t thread, unsigned steps,
                    std::uint32_t mask, const Sightings& sightings) {
  const auto count = static_cast<std::int64_t>(herd.count);
  auto stride = static_cast<std::int64_t>(herd.threads);
  std::int64_t at = thread;
  Field::Inverses inverses;
  const auto prepare = [&](Field::Inverses& next, std::uint32_t i, const Element& x) {
    store(herd.at(Herd::product, i), herd.count, next.push(difference(jumps, x)));
  };
  MM_ROLLED
  for (; at < count; at += stride) {
    const auto i = static_cast<std::uint32_t>(at);
    prepare(inverses, i, load(herd.at(Herd::x, i), herd.count));
  }
  MM_ROLLED
  for (unsigned step = 0; step < steps; ++step) {
    inverses.invert();
    Field::Inverses next;
    stride = -stride;
    MM_ROLLED
    for (at += stride; at >= 0 && at < count; at += stride) {
      const auto i = static_cast<std::uint32_t>(at);
      Affine p = herd.point(i);
      const Jump& jump = jumps[p.x.words[0] % kJumps];
      const Affine q = {load(jump.x, 1), load(jump.y, 1)};
      const Quad distance = sum(*herd.at(Herd::distance, i), jump.distance);
      const Element before = load(herd.at(Herd::product, i), herd.count);
      p = Curve::add_affine(p, q, inverses.pop(Field::sub(q.x, p.x), before));
      herd.set_point(i, p);
      *herd.at(Herd::distance, i) = distance;
      if ((p.x.words[Field::kWords - 1] & mask) == 0) sightings.add(i, p.x, distance);
      prepare(next, i, p.x);
    }
    inverses = next;
  }
}

}  // namespace kangaroo
