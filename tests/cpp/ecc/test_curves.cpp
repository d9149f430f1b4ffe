// SPDX-License-Identifier: Apache-2.0
#include "ecc/test_curves.hpp"

#include "ecc/curve_checks.hpp"

namespace manymod::test {
namespace {

std::vector<std::uint8_t> bytes(std::string_view hex) {
  std::vector<std::uint8_t> result;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    result.push_back(static_cast<std::uint8_t>(std::stoul(std::string(hex.substr(i, 2)), nullptr, 16)));
  return result;
}

ecc::Curve make(const HexCurve& hex) { return ecc::make_curve(CurveNumbers(hex).view()); }

std::vector<TestCurve> make_all(std::span<const HexCurve> rows) {
  std::vector<TestCurve> curves;
  for (const HexCurve& row : rows) curves.push_back({row.name, make(row)});
  return curves;
}

// reference/ecc/tiny.py finds such curves.
constexpr HexCurve kTiny[] = {
    {"a = 0, order 31", MM_ECC_WEIERSTRASS, "2b", "00", "07", "02", "0c", "1f", "01"},
    {"a = 0, order 199", MM_ECC_WEIERSTRASS, "d3", "00", "02", "04", "35", "c7", "01"},
    {"any a, order 139", MM_ECC_WEIERSTRASS, "7f", "03", "02", "00", "6f", "8b", "01"},
    {"a = -3, order 41", MM_ECC_WEIERSTRASS, "1f", "1c", "06", "01", "02", "29", "01"},
    {"any a, order 41", MM_ECC_WEIERSTRASS, "25", "05", "04", "00", "02", "29", "01"},
    {"order above p", MM_ECC_WEIERSTRASS, "43", "40", "08", "01", "1a", "47", "01"},
    {"order below p", MM_ECC_WEIERSTRASS, "43", "40", "2e", "03", "08", "3b", "01"},
    {"p = 5, order 7", MM_ECC_WEIERSTRASS, "05", "02", "01", "00", "01", "07", "01"},
    {"p = 5, order 3", MM_ECC_WEIERSTRASS, "05", "04", "02", "03", "01", "03", "01"},
    {"p = 7, order 11", MM_ECC_WEIERSTRASS, "07", "01", "06", "01", "01", "0b", "01"},
    {"p = 5, cofactor 3", MM_ECC_WEIERSTRASS, "05", "01", "01", "02", "01", "03", "03"},
    {"p = 7, cofactor 2", MM_ECC_WEIERSTRASS, "07", "01", "03", "06", "06", "03", "02"},
    {"three points of order 2", MM_ECC_WEIERSTRASS, "29", "02", "05", "12", "10", "0b", "04"},
    {"a = -3, cofactor 2", MM_ECC_WEIERSTRASS, "3b", "38", "03", "2d", "1e", "25", "02"},
    {"a = -3, cofactor 3", MM_ECC_WEIERSTRASS, "3b", "38", "1c", "15", "09", "17", "03"},
    {"a = -3, cofactor 4, three of order 2", MM_ECC_WEIERSTRASS, "29", "26", "04", "09", "03", "0b", "04"},
    {"a = 0, cofactor 12, three of order 2", MM_ECC_WEIERSTRASS, "61", "00", "01", "3f", "33", "07", "0c"},
    {"any a, cofactor 8", MM_ECC_WEIERSTRASS, "61", "02", "04", "48", "48", "0b", "08"},
    {"p = 97, a = -3, cofactor 8", MM_ECC_WEIERSTRASS, "61", "5e", "09", "16", "37", "0b", "08"},
    {"a = -1, cofactor 4", MM_ECC_EDWARDS, "3d", "3c", "06", "2c", "38", "0d", "04"},
    {"a = -1, cofactor 8", MM_ECC_EDWARDS, "65", "64", "0c", "4c", "16", "0b", "08"},
    {"a = 1, cofactor 4", MM_ECC_EDWARDS, "3b", "01", "06", "19", "34", "0d", "04"},
    {"a = 1, p = 97", MM_ECC_EDWARDS, "61", "01", "0d", "22", "26", "0d", "08"},
    {"a = 4, cofactor 4", MM_ECC_EDWARDS, "59", "04", "17", "05", "2d", "17", "04"},
    {"a = 9, cofactor 12", MM_ECC_EDWARDS, "35", "09", "0e", "1f", "1e", "05", "0c"},
};

// Supersingular curves, whose orders are p + 1: y^2 = x^3 + b for p = 2 mod 3, y^2 = x^3 + a x for p = 3 mod
// 4. They are easy to find in any size, and the points of even cofactors are exceptions of complete formulas.
constexpr HexCurve kSupersingular[] = {
    {"b = 0, 640 bits", MM_ECC_WEIERSTRASS,
     "cb3aa5e84eb486a9517ca4ea1cf3b09da17997e33ff2da09b227a4c288b86d5704ba6207"
     "4dc3c29d6070d8219f7c04cd48d8eec97b6fa56a929ee6108889ba64c8b50a1c5b21d886"
     "04b55399712885e7",
     "a1a7fdd610e4d5f0130f845575c9398e339db32572f69bd784d2c890cd683938ae006134"
     "045f7165163d00d4e6c524584cb71b22bb05d473f05a6ec57cb1d1937e8aba473650c2f2"
     "c8441c8320d690ff",
     "00",
     "b2b5b8c2b1404d6c4ca00ffd9b1247469a220d089fd4c0a2576e648f619eab28a6810498"
     "d4fb45f9aef55171f58354cf4b026cf49e4a4415b3a7fbaf95d62b6043a0c46820733c5c"
     "2fc65e6855a5421f",
     "7ac3c8c7b569b86f45f8366fa45ad7f82d23bc62effda26c0ac70ea082e91f4baa2d0e77"
     "4cf148fe95720382ce3bf3d9d616530d354bc4ca056b56aa37832039ed62c2995d78fef3"
     "0534ee7623ca3e2c",
     "0877c6e9adf230470e0fdc346bdf7cb13c0fbba977ff73c0676c51881b07af38f587c415"
     "a33d7d71395a090166a52adde30909f30fcf518f1b71499605b067c433078b1683cc13b0"
     "403238d10f61b03f",
     "18"},
    {"b = 0, 320 bits", MM_ECC_WEIERSTRASS,
     "9026d4cd93b3ef57c2fa360c39439837b36787b1270c40ee84d0bdc17e0187e08e0de941"
     "3a29c3cf",
     "4ffbe716cb23cdd2055d50a44142540225d8d947aa477543297cee458aa89fdc3f3ab4b4"
     "9636466c",
     "00",
     "2ea41a840dd7a4cc5632b1580962fa2d635964ffc7fec808a823feccf7a0c7e9a92955f8"
     "87d1adec",
     "465288642e9d0a9f88a0fbb5afb6eea1177871854f54859f09ce167fa84cd197313885a6"
     "2b551d0e",
     "2d395bdc1a427d48b5a3d4b88a6f8f208898f35ab6eabf0993144f9c1373ee6490f54e32"
     "94c1cf",
     "0330"},
    {"a = 0, 130 bits", MM_ECC_WEIERSTRASS, "034653aecf10c8714ed7fb8847e81e6157", "00",
     "f12d019c6ee1b80231cf17e1873130a3", "d71f96abb979685b3a4b8f47a5429925",
     "02a2fb502b7656895a365ead5cacae2ef8", "a8b849d2baecc4b0dfcb942eac4cf5", "04f8"},
};

// With discriminant -11 and invariant -32768: 4 p = t^2 + 11 y^2, and p + 1 - t is prime.
constexpr HexCurve kPrimeOrder[] = {
    {"any a, 640 bits", MM_ECC_WEIERSTRASS,
     "8fa662c21fea48ec01e70ffecb29e0d10003c52bcb27ea875375001b06c01d35c66e8fc0"
     "017823a916e075c93d0f7e7f7c30a169514be34d525ccc6309d780d4bae285cf8ce7c504"
     "7c2e480cd06d6a63",
     "13b8cd709e444301879f7c4253efe6d2204c829c190ab4625f0cbd0bc8e1db2a0df1bb64"
     "edadb4275ce8325e1f2e4c42e5d454dab071f56921a166a0d52e35c8aa0b26cb471d71f7"
     "1ddf68685968c9ba",
     "3d07ff36742644fa5b0cad8126588f7c6adeee215469c66eb084d36632d69bd8a0c6022d"
     "f44683fd459048d7292407ac6d486e5f90ba9a0a87353336e6bbf9775a52f122090b8da6"
     "3d4f0849d66a549d",
     "01",
     "265e76ac846bc414bc6007e39620c54b6fb18d8cf717b10dffe4db2f6af61b2012af0fb9"
     "eb7f21c9ee3a8fea3fe2e4ca5ddfb495b16ad7585f9fda6e0be08769cef34cf355c1ec0c"
     "f7b98142935d3c1f",
     "8fa662c21fea48ec01e70ffecb29e0d10003c52bcb27ea875375001b06c01d35c66e8fc0"
     "017823a931e667403e41ec2304d842b8576e1ef08b6ff9b3ca97be7ed613c7cc91406ef2"
     "88693d5e1a84ec39",
     "01"},
    {"any a, 290 bits", MM_ECC_WEIERSTRASS,
     "02aaa7fdf3f7b6d8aa188e92526fc1dc8be67799831a2f0de438886b19027f984cb1611c"
     "6b",
     "025fee6b6a9927d192409d5cc8b350f9998f0557c9c4acfda5b7ce809f0f0c7687bdc8f1"
     "e0",
     "0195499cf1bb6fe10c2b139330778b51110a038fdbd87353c3cfdf006a0a084f052930a1"
     "40",
     "01", "cb32a686ec73ceaf198647a52a1f4e0e0a84adedadcc9260e8cdd0d0daa2e86b1b5cbca0",
     "02aaa7fdf3f7b6d8aa188e92526fc1dc8be679428ec1058cbc8ff51c20cefd56b23ce521"
     "29",
     "01"},
    {"any a, 130 bits", MM_ECC_WEIERSTRASS, "02f217b5a51cfb7051f2e8ae24d9fc6d27",
     "01a7ea2e8ae3a591c86d7aba3c9cbcec0b", "5dbca770aa4fb33ee80cc6545f7d6aef", "02",
     "015cbe05d4fac368dc5ba68920a7b9fed9", "02f217b5a51cfb7053ea1169f4f668e7b5", "01"},
};

}  // namespace

CurveNumbers::CurveNumbers(const HexCurve& hex)
    : form_(hex.form),
      p(bytes(hex.p)),
      a(bytes(hex.a)),
      b(bytes(hex.b)),
      x(bytes(hex.x)),
      y(bytes(hex.y)),
      n(bytes(hex.n)),
      cofactor(bytes(hex.cofactor)) {}

mm_ecc_curve_numbers CurveNumbers::view() const {
  const auto view_of = [](const std::vector<std::uint8_t>& number) {
    return mm_bytes{number.data(), number.size()};
  };
  mm_ecc_curve_numbers numbers{};
  numbers.struct_size = sizeof numbers;
  numbers.form = form_;
  numbers.p = view_of(p);
  numbers.a = view_of(a);
  numbers.b = view_of(b);
  numbers.x = view_of(x);
  numbers.y = view_of(y);
  numbers.n = view_of(n);
  numbers.cofactor = view_of(cofactor);
  return numbers;
}

std::span<const TestCurve> tiny_curves() {
  static const std::vector<TestCurve> curves = make_all(kTiny);
  return curves;
}

std::span<const TestCurve> prime_order_curves() {
  static const std::vector<TestCurve> curves = make_all(kPrimeOrder);
  return curves;
}

std::span<const TestCurve> supersingular_curves() {
  static const std::vector<TestCurve> curves = make_all(kSupersingular);
  return curves;
}

}  // namespace manymod::test
