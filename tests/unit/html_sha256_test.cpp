// SHA-256 against the examples of FIPS 180-4 and the lengths around a block, as base64.
#include "render/html/sha256.hpp"

#include <gtest/gtest.h>

namespace roofline {
namespace {

TEST(HtmlSha256, PublishedExamples) {
  EXPECT_EQ(csp_hash(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
  EXPECT_EQ(csp_hash("abc"), "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
  EXPECT_EQ(csp_hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "sha256-JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE=");
  EXPECT_EQ(csp_hash(std::string(1000000, 'a')), "sha256-zcduXJkU+5KBocfihNc+Z/GAmkiklyAOBG05zMcRLNA=");
}

TEST(HtmlSha256, LengthsAroundABlock) {
  EXPECT_EQ(csp_hash(std::string(55, 'x')), "sha256-1eKFaDzU78AtAhpcYgFGlJWJAQBdb3HongmJ+sd+QHI=");
  EXPECT_EQ(csp_hash(std::string(56, 'x')), "sha256-BMJiYTcO51QVSdFt7jIMcj4/0UZx5moJmv4KN3wWiI4=");
  EXPECT_EQ(csp_hash(std::string(63, 'x')), "sha256-dSILRyGCeOZW8gE7uPDEVaJerwHobGSSTp1I2Jd21vI=");
  EXPECT_EQ(csp_hash(std::string(64, 'x')), "sha256-fOEAlx9k5wAej+WlGXPs3+HO1Cvv5+6NX9YhlQa1OTw=");
  EXPECT_EQ(csp_hash(std::string(65, 'x')), "sha256-lTfF/fEgSC99WNJentWD9SwCtOME6oFNsWM61WWu1+k=");
  EXPECT_EQ(csp_hash(std::string(119, 'x')), "sha256-AAtI1O3w+nvuPGI27NJ4W6pdtO64u1Q0GwKeDZ+l+ww=");
  EXPECT_EQ(csp_hash(std::string(120, 'x')), "sha256-E/BaC1lHh/Xs0xXtyWFBvTJDID0bfU8INvNzCLJ2upg=");
  EXPECT_EQ(csp_hash(std::string(128, 'x')), "sha256-JNobgdCxbfZCju5zxp/LKpPHa8bfcG8MZnD+a/6ABGQ=");
}

}  // namespace
}  // namespace roofline
