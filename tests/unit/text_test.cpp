// Text from outside: malformed, hostile and wide.
#include "text/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "model/listed.hpp"
#include "text/parse.hpp"

namespace roofline {
namespace {

TEST(Text, CleanKeepsValidTextAndReplacesTheRest) {
  EXPECT_EQ(clean("gemm µ 行列 \U0001F600"), "gemm µ 行列 \U0001F600");
  EXPECT_EQ(clean("a\xFF"
                  "b"),
            "a\uFFFD"
            "b");
  EXPECT_EQ(clean("\xC0\xAF"), "\uFFFD\uFFFD");      // an overlong '/'
  EXPECT_EQ(clean("\xED\xA0\x80"), "\uFFFD");        // a surrogate
  EXPECT_EQ(clean("\xE8\xA1"), "\uFFFD");            // cut short
  EXPECT_EQ(clean("\x1b[31mred"), "\uFFFD[31mred");  // no escape sequence survives
  EXPECT_EQ(clean(std::string("a\0b", 3)),
            "a\uFFFD"
            "b");
  EXPECT_EQ(clean("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(clean("in\u202Epmc.yaml\u2066"), "inpmc.yaml");  // reads as "inlmay.cmp"
}

TEST(Text, OneLine) {
  EXPECT_EQ(clean_line("  a \r\n\t b\n"), "a b");
  EXPECT_EQ(clean_line("abc\u202Efed"), "abcfed");
  EXPECT_EQ(clean_line(""), "");
}

TEST(Text, LinesKeepTheirBlanks) {
  EXPECT_THAT(clean_lines("a.c:1: no\r\n  1 | x\ty  \n    |   ^\n", 9),
              testing::ElementsAre("a.c:1: no", "  1 | x y", "    |   ^"));
  EXPECT_THAT(clean_lines("\x1b[31m\u202Ea\n\nb", 9), testing::ElementsAre("\uFFFD[31ma", "", "b"));
  EXPECT_THAT(clean_lines("1\n2\n3\n4", 2), testing::ElementsAre("1", "2", "[2 more lines]"));
  EXPECT_THAT(clean_lines("", 2), testing::ElementsAre(""));
}

TEST(Text, EscapesWhatXmlGivesAMeaningTo) {
  EXPECT_EQ(escape_xml("<&>\"'"), "&lt;&amp;&gt;&quot;&#39;");
  EXPECT_EQ(escape_xml("µ 行"), "µ 行");
  EXPECT_EQ(clean("a\xEF\xBF\xBE"), "a\uFFFD");  // U+FFFE is no character of XML
}

TEST(Text, CodePointsAreThoseOfTheStandard) {
  EXPECT_EQ(code_points("aé—😀"), U"aé—😀");
  EXPECT_EQ(code_points(""), U"");
}

TEST(Text, Widths) {
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("行列"), 4);
  EXPECT_EQ(display_width("e\u0301"), 1);
  EXPECT_EQ(display_width("±µ×"), 3);
  EXPECT_EQ(display_width(""), 0);
}

TEST(Text, ShortensInTheMiddle) {
  EXPECT_EQ(shorten("short", 5), "short");
  EXPECT_EQ(shorten("abcdefghij", 5), "ab…ij");
  EXPECT_EQ(shorten("abcdefghij", 6), "abc…ij");
  EXPECT_EQ(shorten("abc", 1), "…");
  EXPECT_EQ(shorten("abc", 0), "");
  EXPECT_EQ(display_width(shorten("行列行列行列行列", 9)), 9);
  for (int columns = 1; columns < 20; ++columns) {
    EXPECT_LE(display_width(shorten("a行b列c行d列e行f列g", columns)), columns);
  }
  EXPECT_EQ(display_width(shorten(std::string(10000, 'x'), 40)), 40);
}

TEST(Text, TextsThatDifferStayDifferentWhenShortened) {
  std::vector<std::string> names = {"short", "short"};
  for (const char* op : {"reduction", "gemm", "softmax"}) {
    for (const char* type : {"fp32", "fp16", "fp64"}) {
      for (const char* how : {"2^28 (vectorized)", "2^28 (registers)", "2^2 (vectorized)"}) {
        names.push_back(std::string(op) + " " + type + " " + how);
      }
    }
  }
  for (const int columns : {11, 14, 16, 20, 24, 60}) {
    const std::vector<std::string> cut = shorten_apart(names, columns);
    ASSERT_EQ(cut.size(), names.size());
    EXPECT_EQ(cut[0], "short");
    EXPECT_EQ(cut[1], "short") << "equal texts stay equal";
    EXPECT_EQ(std::set<std::string>(cut.begin(), cut.end()).size(), names.size() - 1) << columns;
    for (std::size_t i = 0; i < names.size(); ++i) {
      EXPECT_LE(display_width(cut[i]), columns);
      if (display_width(names[i]) <= columns) {
        EXPECT_EQ(cut[i], names[i]);
      }
    }
  }
  const std::vector<std::string> types = {"reduction fp32 2^28 (vectorized)", "reduction fp16 2^28 (vectorized)"};
  for (const int columns : {10, 11, 16}) {
    EXPECT_THAT(shorten_apart(types, columns),
                testing::ElementsAre(testing::HasSubstr("fp32"), testing::HasSubstr("fp16")));
  }
  EXPECT_THAT(shorten_apart({"a very long name", "another"}, 7),
              testing::ElementsAre(shorten("a very long name", 7), "another"));
  for (int columns = 0; columns < 6; ++columns) {
    for (const std::string& text : shorten_apart(names, columns)) EXPECT_LE(display_width(text), columns);
  }
}

TEST(Text, AListIsSplitAtEverySeparator) {
  using Parts = std::vector<std::string>;
  EXPECT_EQ(split("cuda:0,2,cpu", ','), (Parts{"cuda:0", "2", "cpu"}));
  EXPECT_EQ(split("", ','), Parts{""});
  EXPECT_EQ(split(",a,", ','), (Parts{"", "a", ""}));
}

TEST(Text, ANumberIsTheWholeText) {
  EXPECT_EQ(parsed_number<int>("-12"), -12);
  EXPECT_EQ(parsed_number<double>("0.5"), 0.5);
  for (const std::string_view text : {"", "1 ", " 1", "1x", "x", "99999999999"}) {
    EXPECT_FALSE(parsed_number<int>(text)) << text;
  }
}

TEST(Text, OnlyAsciiLettersHaveACase) {
  EXPECT_EQ(lower_case("GPU µ É"), "gpu µ É");
  EXPECT_EQ(upper_case("l2 µ é"), "L2 µ é");
}

TEST(Text, NamesAreListedUpToALimit) {
  const std::vector<std::string> names = {"a", "b", "c"};
  EXPECT_EQ(listed({}), "");
  EXPECT_EQ(listed(std::span(names).first(1)), "a");
  EXPECT_EQ(listed(names), "a, b and c");
  EXPECT_EQ(listed(names, 3), "a, b and c");
  EXPECT_EQ(listed(names, 2), "a, b and 1 more");
  EXPECT_EQ(listed(names, 1), "a and 2 more");
}

TEST(Text, BlanksAtBothEndsAreTrimmed) {
  EXPECT_EQ(trimmed("addsd"), "addsd");
  EXPECT_EQ(trimmed(" \taddsd %xmm0, %xmm1\t \r"), "addsd %xmm0, %xmm1");
  EXPECT_EQ(trimmed(" \t\r"), "");
  EXPECT_EQ(trimmed(""), "");
}

}  // namespace
}  // namespace roofline
