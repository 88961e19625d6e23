// Text that is walked from its start to a position: lines with the fault, and similar ones without it.
#include "report/prefix_scans.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/source_text.hpp"
#include "report/python_work.hpp"

namespace roofline {
namespace {

TEST(PrefixScans, AreInTheTextOfALine) {
  for (const std::string_view source :
       {"let line = self.text[..offset].matches('\\n').count() + 1;",
        "for ch in self.text[..offset as usize].chars() {", "let line = source[..span.start].lines().count();",
        "text[0..pos].chars().filter(|&c| c == '\\n').count()",
        "let n = src.as_bytes()[..at].iter().filter(|&&b| b == b'\\n').count();",
        "let column = text.chars().take(offset).filter(|c| *c == 'a').count();", "line = text[:pos].count(\"\\n\") + 1",
        "return self.source.count('\\n', 0, match.start()) + 1", "lines = text[:token.offset].split(\"\\n\")",
        "return len(text[:pos].splitlines())",
        "for ch in self.text[:position]:", "return 1 + std::count(s.begin(), s.begin() + pos, '\\n');",
        "std::count(s.data(), s.data() + pos, '\\n')", "std::count(text.begin(), it, '\\n')",
        "int line = count_lines(text.substr(0, pos));", "for (char c : text.substr(0, offset)) {"})
    EXPECT_TRUE(scans_prefix(source)) << source;
  for (const std::string_view source : {"for ch in self.text.chars() {",
                                        "let lines = text.matches('\\n').count();",
                                        "for b in text[..n].bytes() {",
                                        "total += buffer[..n].iter().filter(|&&b| b == b'\\n').count();",
                                        "for x in &items[..offset] {",
                                        "let sum: f64 = values[..i].iter().sum();",
                                        "let head = text[..16].chars().count();",
                                        "let (key, _) = text[..colon].split_once('=').unwrap();",
                                        "let column = line[..offset].chars().count();",
                                        "lines += block[:size].count(b\"\\n\")",
                                        "lines = text.count(\"\\n\")",
                                        "name = line[:pos].count(\" \")",
                                        "head = text[:pos].strip()",
                                        "fields = text[:pos].split(\",\")",
                                        "tail = text.count(\"\\n\", pos)",
                                        "x = text.count(\"\\n\", start, end)",
                                        "last = rows[:-1].count(0)",
                                        "part = text[:LIMIT].count(\"a\")",
                                        "lines += std::count(buffer.begin(), buffer.begin() + got, '\\n');",
                                        "std::count(s.begin(), s.end(), '\\n')",
                                        "std::count(buffer, buffer + n, '\\n')",
                                        "key = text.substr(0, pos);",
                                        "for (char c : text) {",
                                        "for (size_t i = 0; i < text.size(); ++i)",
                                        "// text[..offset].chars().count()"})
    EXPECT_FALSE(scans_prefix(source)) << source;
  EXPECT_TRUE(counts_lines_before("for (size_t i = 0; i < pos; ++i) {", "if (text[i] == '\\n') ++line;"));
  EXPECT_FALSE(counts_lines_before("for (size_t i = 0; i < size; ++i) {", "if (text[i] == '\\n') ++line;"));
  EXPECT_FALSE(counts_lines_before("for (size_t i = from; i < pos; ++i) {", "if (text[i] == '\\n') ++line;"));
  EXPECT_FALSE(counts_lines_before("for (size_t i = 0; i < pos; ++i) {", "sum += x[i];"));
}

TEST(PrefixScans, AreFoundInLoopsAndChains) {
  const std::string rust =
      "fn at(&self, offset: u32) {\n"
      "    for ch in self.text[..offset as usize].chars() {\n"
      "        if ch == '\\n' {\n"
      "            line += 1;\n"
      "        }\n"
      "    }\n"
      "    let n = 1;\n"
      "    self.text[..offset]\n"
      "        .chars()\n"
      "        .filter(|&c| c == '\\n')\n"
      "        .count()\n";
  SourceTexts sources([&](const std::string&) { return rust; });
  std::vector<HostLineSum> lines(11);
  for (int i = 0; i < 11; ++i) lines[static_cast<std::size_t>(i)].place = {"at", "lint.rs", i + 1, false, true};
  add_source_text(lines, sources);
  EXPECT_THAT(lines[2].source, testing::HasSubstr("# in: for ch in"));
  EXPECT_THAT(lines[3].source, testing::HasSubstr("# in: for ch in"));
  EXPECT_EQ(lines[6].source, "let n = 1;");
  EXPECT_TRUE(scans_prefix(lines[9].source)) << lines[9].source;
  HostProfile host;
  host.times.of(ThreadState::running) = 10;
  lines[2].times.of(ThreadState::running) = 4;
  lines[1].times.of(ThreadState::running) = 2;
  lines[6].times.of(ThreadState::running) = 4;
  host.lines = lines;
  const auto found = prefix_scans(host, 0);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->id, "prefix-scans");
  EXPECT_EQ(found->seconds, 6);
  EXPECT_EQ(found->line, "lint.rs:3 at");
  EXPECT_FALSE(prefix_scans(host, 8e9)) << "once through all memory";
  host.lines[2].times.of(ThreadState::running) = 0.2;
  EXPECT_FALSE(prefix_scans(host, 0)) << "little";
}

TEST(PrefixScans, AreFoundInPython) {
  EXPECT_EQ(python_work_at("line = text.count(\"\\n\", 0, pos) + 1")->id, "prefix-scans");
  EXPECT_EQ(python_work_at("if ch == \"\\n\":  # in: for ch in text[:pos]:")->id, "prefix-scans");
  EXPECT_EQ(python_work_at("if names.count(name) > 1:")->id, "list-search");
}

}  // namespace
}  // namespace roofline
