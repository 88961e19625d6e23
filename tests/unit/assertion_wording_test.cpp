// Tests assert kinds, names and figures; whole sentences stand in tests/golden, where one command renews them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace roofline {
namespace {

namespace fs = std::filesystem;

/// What a string literal of an assertion must not have both of: that many characters, and as many words in a row.
constexpr std::size_t kLongest = 40;
constexpr int kWordsOfASentence = 4;

bool is_sentence(const std::string& text) {
  static const std::regex kWord("[A-Za-z']*[a-z]{2}[a-z']*[,.;:]?|a|an");
  if (text.size() <= kLongest || text.find("\\n") != std::string::npos) return false;
  int run = 0;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    run = std::regex_match(word, kWord) ? run + 1 : 0;
    if (run == kWordsOfASentence) return true;
  }
  return false;
}

/// The end of the literal that begins at `at`, one past its closing quote.
std::size_t end_of_literal(std::string_view source, std::size_t at) {
  const char quote = source[at];
  std::size_t end = at + 1;
  while (end < source.size() && source[end] != quote) end += source[end] == '\\' ? 2 : 1;
  return std::min(end + 1, source.size());
}

/// The string literals between the parenthesis before `at` and the one that closes it, neighbours as one. Messages
/// behind `<<` are for whoever reads a failure.
std::vector<std::string> literals_of_call(std::string_view source, std::size_t at, bool single_quotes) {
  std::vector<std::string> literals;
  char before = '(', last = '(';
  bool joined = false;
  for (int depth = 1; at < source.size() && depth > 0;) {
    const char c = source[at];
    if (c == '"' || c == '\'') {
      const std::size_t end = end_of_literal(source, at);
      const bool message = before == '<' && last == '<';
      if ((c == '"' || single_quotes) && !message) {
        if (!joined) literals.emplace_back();
        literals.back() += source.substr(at + 1, end - at - 2);
        joined = true;
      }
      at = end;
      continue;
    }
    depth += (c == '(' || c == '[' || c == '{') ? 1 : (c == ')' || c == ']' || c == '}') ? -1 : 0;
    if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      joined = false;
      before = last;
      last = c;
    }
    ++at;
  }
  return literals;
}

/// Whether a call of that name compares what it is given with a text.
bool is_assertion(std::string_view name, const std::string& language) {
  static const std::set<std::string_view> kMatchers = {"HasSubstr", "StartsWith", "EndsWith", "mentions", "finding"};
  static const std::set<std::string_view> kPython = {"assertIn",    "assertNotIn",    "assertEqual", "assertNotEqual",
                                                     "assertRegex", "assertNotRegex", "check",       "refused"};
  static const std::set<std::string_view> kScript = {"getByText", "includes", "toContain"};
  if (language == ".py") return kPython.contains(name);
  if (language == ".js") return kScript.contains(name);
  return name.starts_with("EXPECT_") || name.starts_with("ASSERT_") || kMatchers.contains(name);
}

std::vector<std::string> sentences_in_assertions(std::string_view source, const std::string& language) {
  const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::set<std::string> found;
  for (std::size_t at = source.find('('); at != std::string::npos; at = source.find('(', at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && in_name(source[begin - 1])) --begin;
    if (!is_assertion(source.substr(begin, at - begin), language)) continue;
    const bool single_quotes = language == ".py" || language == ".js";
    for (const std::string& literal : literals_of_call(source, at + 1, single_quotes)) {
      if (is_sentence(literal)) found.insert(literal);
    }
  }
  return {found.begin(), found.end()};
}

TEST(AssertionWording, SentencesStandInGoldenFilesAlone) {
  const fs::path tests = fs::path(ROOFLINE_SOURCE_DIR) / "tests";
  std::size_t files = 0;
  for (auto entry = fs::recursive_directory_iterator(tests); entry != fs::recursive_directory_iterator(); ++entry) {
    const fs::path& path = entry->path();
    const std::string ending = path.extension().string(), name = path.filename().string();
    if (name == "node_modules" || name == "golden") entry.disable_recursion_pending();
    const bool read = ending == ".cpp" || ending == ".hpp" || ending == ".cu" || ending == ".py" || ending == ".js";
    if (!read || name == "assertion_wording_test.cpp") continue;
    std::ifstream file(path, std::ios::binary);
    const std::string source{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    ++files;
    for (const std::string& sentence : sentences_in_assertions(source, ending)) {
      ADD_FAILURE() << path.string() << " asserts the sentence \"" << sentence
                    << "\": assert its kind, names and figures instead (tests/support/mentions.hpp)";
    }
  }
  EXPECT_GT(files, 100U);
}

TEST(AssertionWording, AreFoundInEachLanguage) {
  const std::string sentence = "the machine was disturbed while it was calibrated";
  const std::string halves = "\"the machine was disturbed \"\n      \"while it was calibrated\"";
  EXPECT_EQ(sentences_in_assertions("EXPECT_EQ(text, " + halves + ");", ".cpp"), std::vector<std::string>{sentence});
  EXPECT_EQ(sentences_in_assertions("self.assertIn('" + sentence + "', text)", ".py"),
            std::vector<std::string>{sentence});
  EXPECT_EQ(sentences_in_assertions("page.getByText('" + sentence + "')", ".js"), std::vector<std::string>{sentence});
  EXPECT_TRUE(sentences_in_assertions("EXPECT_THAT(text, mentions(\"3 rows\", \"1.1 of 2 cores\"));", ".cpp").empty());
  EXPECT_TRUE(sentences_in_assertions("write(" + halves + ");", ".cpp").empty());
}

}  // namespace
}  // namespace roofline
