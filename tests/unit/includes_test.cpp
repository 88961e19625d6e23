// Each source file includes what declares what it uses, directly or through other includes. The default build bundles
// source files, which hides a missing include until somebody builds them one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace roofline {
namespace {

namespace fs = std::filesystem;

/// Identifiers, numbers, punctuation, "" for each literal and include "path" for each quoted include; no comments.
std::vector<std::string> tokens_of(const std::string& text) {
  const auto is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::vector<std::string> tokens;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    std::size_t length = 1;
    if (rest.starts_with("//")) {
      length = std::min(rest.find('\n'), rest.size());
    } else if (rest.starts_with("/*")) {
      length = std::min(rest.find("*/", 2), rest.size() - 2) + 2;
    } else if (rest.starts_with("R\"")) {
      const std::string end = ")" + std::string(rest.substr(2, rest.find('(') - 2)) + "\"";
      length = std::min(rest.find(end), rest.size() - end.size()) + end.size();
      tokens.emplace_back("\"\"");
    } else if (rest[0] == '"' || rest[0] == '\'') {
      while (length < rest.size() && rest[length] != rest[0]) length += rest[length] == '\\' ? 2 : 1;
      if (rest[0] == '"' && !tokens.empty() && tokens.back() == "include") {
        tokens.emplace_back(rest.substr(1, length - 1));
      } else {
        tokens.emplace_back("\"\"");
      }
      ++length;
    } else if (is_name(rest[0])) {
      while (length < rest.size() && (is_name(rest[length]) || (rest[length] == '\'' && std::isdigit(rest[0]) != 0))) {
        ++length;
      }
      tokens.emplace_back(rest.substr(0, length));
    } else if (rest.starts_with("::") || rest.starts_with("->")) {
      length = 2;
      tokens.emplace_back(rest.substr(0, length));
    } else if (std::isspace(static_cast<unsigned char>(rest[0])) == 0) {
      tokens.emplace_back(1, rest[0]);
    }
    at += length;
  }
  return tokens;
}

bool is_name(const std::string& token) {
  static const std::set<std::string> keywords = {"return", "else",  "throw", "case", "new",    "delete",  "co_return",
                                                 "and",    "or",    "not",   "if",   "while",  "for",     "switch",
                                                 "sizeof", "catch", "using", "goto", "typeid", "alignas", "defined"};
  return (std::isalpha(static_cast<unsigned char>(token[0])) != 0 || token[0] == '_') && !keywords.contains(token);
}

bool is_type_keyword(const std::string& token) {
  return token == "struct" || token == "class" || token == "union" || token == "enum" || token == "typename" ||
         token == "using";
}

/// What a source file includes, declares for others, has names for, and uses.
struct SourceFile {
  std::set<std::string> includes;
  std::set<std::string> declares;    ///< functions and types at the scope of a namespace
  std::set<std::string> introduces;  ///< every name that stands behind a type or in a structured binding
  std::set<std::string> uses;        ///< called functions and types, without a qualification
};

SourceFile read_source(const std::string& text) {
  SourceFile out;
  const std::vector<std::string> tokens = tokens_of(text);
  std::vector<bool> scopes;  // open braces and parentheses: whether each is a namespace
  bool of_namespace = false;
  int inner = 0;  // those that are none
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    static const std::string none;
    const std::string& token = tokens[i];
    const std::string& before = i > 0 ? tokens[i - 1] : none;
    const std::string& behind = tokens[i + 1];
    if (token == "include" && before == "#") out.includes.insert(behind);
    if (token == "namespace") of_namespace = true;
    if (token == "{" || token == "(") {
      scopes.push_back(token == "{" && of_namespace);
      inner += scopes.back() ? 0 : 1;
      of_namespace = false;
    } else if ((token == "}" || token == ")") && !scopes.empty()) {
      inner -= scopes.back() ? 0 : 1;
      scopes.pop_back();
    } else if (token == ";") {
      of_namespace = false;
    }
    if (token == "[" && (before == "auto" || before == "&")) {
      for (std::size_t j = i + 1; j < tokens.size() && tokens[j] != "]"; ++j) out.introduces.insert(tokens[j]);
    }
    if (!is_name(token)) continue;
    const bool is_type = is_type_keyword(before);
    const bool named = is_name(before) || before == ">" || before == "&" || before == "*";
    if (is_type || named) out.introduces.insert(token);
    if (inner == 0 && ((is_type && behind != ";") || (named && behind == "("))) out.declares.insert(token);
    const bool qualified = before == "." || before == "->" || before == "::" || before == "~";
    const bool type_like = std::isupper(static_cast<unsigned char>(token[0])) != 0 && token.size() > 1;
    const bool of_test = i > 1 && (tokens[i - 2] == "TEST" || tokens[i - 2] == "INSTANTIATE_TEST_SUITE_P");
    if (!qualified && !is_type && !of_test && (behind == "(" || type_like)) out.uses.insert(token);
  }
  return out;
}

/// By the path that an include of it has.
using SourceFiles = std::map<std::string, SourceFile>;

void read_below(const fs::path& folder, const fs::path& root, SourceFiles& files) {
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string ending = entry.path().extension().string();
    if (ending != ".cpp" && ending != ".hpp" && ending != ".cu" && ending != ".cuh") continue;
    std::ifstream file(entry.path());
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    files[fs::relative(entry.path(), root).string()] = read_source(text);
  }
}

/// "FILE: NAME of HEADER" for each name that only this header declares and that the file uses without seeing it.
std::vector<std::string> missing_includes(const SourceFiles& files) {
  std::map<std::string, std::vector<std::string>> headers;
  for (const auto& [path, file] : files) {
    if (!path.ends_with(".hpp")) continue;
    for (const std::string& name : file.declares) headers[name].push_back(path);
  }
  std::vector<std::string> found;
  for (const auto& [path, file] : files) {
    if (!path.ends_with(".cpp") && !path.ends_with(".cu")) continue;
    std::set<std::string> seen = {path}, names = file.introduces;
    for (std::vector<std::string> open = {path}; !open.empty();) {
      const std::string at = open.back();
      const SourceFile& of = files.at(at);
      open.pop_back();
      names.insert(of.introduces.begin(), of.introduces.end());
      for (const std::string& include : of.includes) {
        const std::string beside = (fs::path(at).parent_path() / include).lexically_normal().string();
        const std::string& included = files.contains(include) ? include : beside;
        if (files.contains(included) && seen.insert(included).second) open.push_back(included);
      }
    }
    for (const std::string& name : file.uses) {
      const auto declared = headers.find(name);
      if (declared == headers.end() || declared->second.size() > 1 || names.contains(name)) continue;
      found.push_back(path + ": " + name + " of " + declared->second.front());
    }
  }
  return found;
}

TEST(Includes, EachSourceFileSeesWhatItUses) {
  const fs::path root = ROOFLINE_SOURCE_DIR;
  SourceFiles files;
  read_below(root / "src", root / "src", files);
  read_below(root / "kernels", root, files);
  read_below(root / "tests", root, files);
  ASSERT_GT(files.size(), 500U);
  for (const std::string& missing : missing_includes(files)) {
    ADD_FAILURE() << missing << ", which is not included: a build that bundles no files would fail";
  }
}

TEST(Includes, FindsAMissingOne) {
  const SourceFile header =
      read_source("std::string shorten(std::string_view text, int columns);\nstruct Color { int x; };");
  const auto count = [&](const char* text) {
    return missing_includes({{"text/a.hpp", header},
                             {"text/b.hpp", read_source("#include \"text/a.hpp\"")},
                             {"c.cpp", read_source(text)}})
        .size();
  };
  EXPECT_EQ(count("int f() { return g(shorten(line, 80)); }"), 1U);
  EXPECT_EQ(count("int f() { return g(Color{1}); }"), 1U);
  EXPECT_EQ(count("#include \"text/a.hpp\"\nint f() { return g(shorten(line, 80), Color{1}); }"), 0U);
  EXPECT_EQ(count("#include \"text/b.hpp\"\nint f() { return g(shorten(line, 80), Color{1}); }"), 0U);
  EXPECT_EQ(count("int f() { return other.shorten(1) + other::shorten(2) + \"shorten(3)\"; }  // shorten(4)"), 0U);
  EXPECT_EQ(count("struct Color {};\nint shorten(int);\nint f() { return shorten(1); }"), 0U);
  EXPECT_EQ(count("int f() { const auto [shorten, b] = g(); return shorten(1); }"), 0U);
}

}  // namespace
}  // namespace roofline
