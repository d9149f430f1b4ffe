// SPDX-License-Identifier: Apache-2.0
// The curves of the program paper003: brainpool curves (RFC 5639) of the paper's widths, with any a (r1) and,
// isomorphic to them, with a = -3 (t1).
#pragma once

namespace manymod::bench::paper003 {

/// y^2 = x^3 + a x + b modulo p, and a point of prime order on it, in hexadecimal digits.
struct NamedCurve {
  const char* name;
  unsigned bits;
  bool a_is_minus_three;
  const char *p, *a, *gx, *gy;
};

// clang-format off
inline constexpr NamedCurve kCurves[] = {
    {"brainpoolP160r1", 160, false,
     "e95e4a5f737059dc60dfc7ad95b3d8139515620f",
     "340e7be2a280eb74e2be61bada745d97e8f7c300",
     "bed5af16ea3f6a4f62938c4631eb5af7bdbcdbc3",
     "1667cb477a1a8ec338f94741669c976316da6321"},
    {"brainpoolP160t1", 160, true,
     "e95e4a5f737059dc60dfc7ad95b3d8139515620f",
     "e95e4a5f737059dc60dfc7ad95b3d8139515620c",
     "b199b13b9b34efc1397e64baeb05acc265ff2378",
     "add6718b7c7c1961f0991b842443772152c9e0ad"},
    {"brainpoolP192r1", 192, false,
     "c302f41d932a36cda7a3463093d18db78fce476de1a86297",
     "6a91174076b1e0e19c39c031fe8685c1cae040e5c69a28ef",
     "c0a0647eaab6a48753b033c56cb0f0900a2f5c4853375fd6",
     "14b690866abd5bb88b5f4828c1490002e6773fa2fa299b8f"},
    {"brainpoolP192t1", 192, true,
     "c302f41d932a36cda7a3463093d18db78fce476de1a86297",
     "c302f41d932a36cda7a3463093d18db78fce476de1a86294",
     "3ae9e58c82f63c30282e1fe7bbf43fa72c446af6f4618129",
     "097e2c5667c2223a902ab5ca449d0084b7e5b3de7ccc01c9"},
    {"brainpoolP224r1", 224, false,
     "d7c134aa264366862a18302575d1d787b09f075797da89f57ec8c0ff",
     "68a5e62ca9ce6c1c299803a6c1530b514e182ad8b0042a59cad29f43",
     "0d9029ad2c7e5cf4340823b2a87dc68c9e4ce3174c1e6efdee12c07d",
     "58aa56f772c0726f24c6b89e4ecdac24354b9e99caa3f6d3761402cd"},
    {"brainpoolP224t1", 224, true,
     "d7c134aa264366862a18302575d1d787b09f075797da89f57ec8c0ff",
     "d7c134aa264366862a18302575d1d787b09f075797da89f57ec8c0fc",
     "6ab1e344ce25ff3896424e7ffe14762ecb49f8928ac0c76029b4d580",
     "0374e9f5143e568cd23f3f4d7c0d4b1e41c8cc0d1c6abd5f1a46db4c"},
    {"brainpoolP256r1", 256, false,
     "a9fb57dba1eea9bc3e660a909d838d726e3bf623d52620282013481d1f6e5377",
     "7d5a0975fc2c3057eef67530417affe7fb8055c126dc5c6ce94a4b44f330b5d9",
     "8bd2aeb9cb7e57cb2c4b482ffc81b7afb9de27e1e3bd23c23a4453bd9ace3262",
     "547ef835c3dac4fd97f8461a14611dc9c27745132ded8e545c1d54c72f046997"},
    {"brainpoolP256t1", 256, true,
     "a9fb57dba1eea9bc3e660a909d838d726e3bf623d52620282013481d1f6e5377",
     "a9fb57dba1eea9bc3e660a909d838d726e3bf623d52620282013481d1f6e5374",
     "a3e8eb3cc1cfe7b7732213b23a656149afa142c47aafbc2b79a191562e1305f4",
     "2d996c823439c56d7f7b22e14644417e69bcb6de39d027001dabe8f35b25c9be"},
    {"brainpoolP384r1", 384, false,
     "8cb91e82a3386d280f5d6f7e50e641df152f7109ed5456b412b1da197fb71123acd3a729901d1a71874700133107ec53",
     "7bc382c63d8c150c3c72080ace05afa0c2bea28e4fb22787139165efba91f90f8aa5814a503ad4eb04a8c7dd22ce2826",
     "1d1c64f068cf45ffa2a63a81b7c13f6b8847a3e77ef14fe3db7fcafe0cbd10e8e826e03436d646aaef87b2e247d4af1e",
     "8abe1d7520f9c2a45cb1eb8e95cfd55262b70b29feec5864e19c054ff99129280e4646217791811142820341263c5315"},
    {"brainpoolP384t1", 384, true,
     "8cb91e82a3386d280f5d6f7e50e641df152f7109ed5456b412b1da197fb71123acd3a729901d1a71874700133107ec53",
     "8cb91e82a3386d280f5d6f7e50e641df152f7109ed5456b412b1da197fb71123acd3a729901d1a71874700133107ec50",
     "18de98b02db9a306f2afcd7235f72a819b80ab12ebd653172476fecd462aabffc4ff191b946a5f54d8d0aa2f418808cc",
     "25ab056962d30651a114afd2755ad336747f93475b7a1fca3b88f2b6a208ccfe469408584dc2b2912675bf5b9e582928"},
};
// clang-format on

}  // namespace manymod::bench::paper003
