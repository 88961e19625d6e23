// The house: includes point down the layers and never up, and no code reads a sentence (docs/architecture.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace roofline {
namespace {

namespace fs = std::filesystem;

/// The floors, lowest first, and what each may include besides itself; kernels/ is a floor too.
const std::map<std::string, std::vector<std::string>> kMayInclude = {
    {"model", {}},
    {"measure", {"model"}},
    {"text", {"model"}},
    {"host", {"text", "model"}},
    {"sample", {"host", "text", "model"}},
    {"cupti", {"host", "model"}},
    {"device", {"cupti", "host", "text", "measure", "model"}},
    {"op", {"device", "host", "text", "measure", "model"}},
    {"kernels", {"op", "device", "host", "text", "measure", "model"}},
    {"report", {"sample", "op", "text", "measure", "model"}},
    {"emulate", {}},  // a program of its own, in C
    {"inject", {"sample", "cupti", "host", "text", "model"}},
    {"mpi", {}},  // a library of its own, in C
    {"portable", {}},
    {"user", {"op", "device", "host", "text", "measure", "model"}},
    {"config", {"user", "op", "host", "text", "model"}},
    {"calibrate", {"report", "op", "device", "host", "text", "measure", "model"}},
    {"analyze",
     {"sample", "calibrate", "config", "user", "report", "op", "device", "host", "text", "measure", "model"}},
    {"profile", {"mpi", "sample", "inject", "calibrate", "report", "op", "device", "host", "text", "measure", "model"}},
    {"problem", {"text", "model"}},
    {"import",
     {"problem", "profile", "inject", "calibrate", "report", "op", "device", "host", "text", "measure", "model"}},
    {"project", {"report", "text", "measure", "model"}},
    {"fleet", {"report", "host", "text", "measure", "model"}},
    {"monitor", {"device", "text", "measure", "model"}},
    {"render", {"fleet", "monitor", "problem", "project", "report", "op", "text", "measure", "model"}},
    {"mcp", {"host", "text", "model"}},
    {"cli", {"mcp",    "import", "profile", "analyze", "calibrate", "fleet", "monitor", "problem", "project", "render",
             "config", "user",   "report",  "op",      "device",    "cupti", "host",    "text",    "measure", "model"}},
};

struct Include {
  fs::path file;
  std::string path;
  bool quoted = true;
};

std::vector<Include> includes_below(const fs::path& folder) {
  static const std::regex pattern(R"(^\s*#\s*include\s*([<"])([^">]+)[">])");
  std::vector<Include> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string ending = entry.path().extension().string();
    if (ending != ".cpp" && ending != ".hpp" && ending != ".cu" && ending != ".cuh") continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      std::smatch match;
      if (std::regex_search(line, match, pattern)) found.push_back({entry.path(), match[2], match[1] == "\""});
    }
  }
  return found;
}

void check_layer(const std::string& layer, const fs::path& folder) {
  const std::vector<std::string>& allowed = kMayInclude.at(layer);
  for (const Include& include : includes_below(folder)) {
    const std::string target = include.path.substr(0, include.path.find('/'));
    if (!include.quoted || target == layer || kMayInclude.count(target) == 0) continue;
    EXPECT_NE(std::find(allowed.begin(), allowed.end(), target), allowed.end())
        << include.file << " includes \"" << include.path << "\": " << layer << " must not see " << target;
  }
}

TEST(Layering, IncludesPointDown) {
  const fs::path source = fs::path(ROOFLINE_SOURCE_DIR) / "src";
  for (const auto& entry : fs::directory_iterator(source)) {
    if (!entry.is_directory()) continue;
    const std::string layer = entry.path().filename().string();
    ASSERT_EQ(kMayInclude.count(layer), 1U) << "src/" << layer << " has no place in the house yet";
    check_layer(layer, entry.path());
  }
  check_layer("kernels", fs::path(ROOFLINE_SOURCE_DIR) / "kernels");
}

TEST(Layering, MathematicsKnowsNoHardwareNoFormatAndNoClock) {
  const std::regex forbidden(
      "cuda|cublas|nvml|hwloc|yaml|json|cairo|chrono|ctime|thread|unistd|fstream|filesystem|^sys/");
  for (const char* layer : {"model", "measure"}) {
    for (const Include& include : includes_below(fs::path(ROOFLINE_SOURCE_DIR) / "src" / layer)) {
      EXPECT_FALSE(std::regex_search(include.path, forbidden)) << include.file << " includes " << include.path;
    }
  }
}

/// Words in quotation marks that code may look for, for they are somebody else's format and no text of ours. Part of
/// the path, and of the literal; an empty literal allows all of the file's.
struct AllowedWords {
  const char* path;
  const char* words;
};
constexpr AllowedWords kAllowedWords[] = {
    {"src/import/", ""},                                // formats of other tools
    {"src/text/compiler_remarks.cpp", ""},              // the words of compilers
    {"src/report/diagnosis/remark_action.cpp", ""},     // the same
    {"src/model/ceiling.hpp", "data sheet"},            // how machine.json spells an origin
    {"src/device/cpu/topology.cpp", "hypervisor"},      // a flag in /proc/cpuinfo
    {"src/device/cuda/machine_code.cpp", "anonymous"},  // as demanglers write it
    {"src/report/python_work.cpp", ""},                 // the text of a program's lines
    {"src/report/source_lines.cpp", ""},                // the same
    {"src/report/prefix_scans.cpp", ""},                // the same
    {"src/report/function_purpose.cpp", "const&"},      // as demanglers write it
    {"src/report/json/json_value.cpp", "column"},       // a message of the JSON parser
    {"src/render/chart/chart.cpp", "main"},             // CSS classes of a group
    {"src/render/chart/chart.cpp", "idle"},
};

/// Words, not a name or markup: a letter and a blank, and no tag or attribute.
bool is_wordy(const std::string& literal) {
  const bool letter = std::any_of(literal.begin(), literal.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
  return letter && literal.find(' ') != std::string::npos && literal.find_first_of("<=") == std::string::npos;
}

/// The lines of a source file, those joined that break after a parenthesis or a comparison.
std::vector<std::string> statements_of(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  bool open = false;
  for (std::string line; std::getline(file, line);) {
    if (open) lines.back() += line.substr(std::min(line.size(), line.find_first_not_of(' ')));
    if (!open) lines.push_back(line);
    open = line.ends_with('(') || line.ends_with("==") || line.ends_with("!=");
  }
  return lines;
}

/// Where a source file looks for words in a text or compares a text with words; each find as it stands there.
std::vector<std::string> sentences_read_by(const fs::path& path) {
  // In JavaScript strings have single quotation marks.
  const std::string quoted = path.extension() == ".js" ? "'([^'\\n]*)'" : R"--("((?:[^"\\]|\\.)*)")--";
  const std::string asks =
      R"((?:\b(?:find|rfind|starts_with|ends_with|contains|compare|count|includes|indexOf|startsWith|endsWith)\(\s*|[=!]==?\s*))";
  const std::regex by_literal(asks + quoted + "|" + quoted + R"(\s*[=!]=)");
  const std::regex by_constant(asks + R"((k[A-Z]\w*))");
  const std::regex constant(R"(\b(k[A-Z]\w*)\s*(?:\[\])?\s*=\s*\{?\s*)" + quoted);
  const std::regex in_text(
      R"((?:\.|->)(?:reason|summary|finding|action|detail|what\(\)|hint\(\))\.(?:find|rfind|starts_with|ends_with|contains)\()"
      R"(|\.test\([^()]*(?:textContent|innerText)|(?:textContent|innerText)(?:\.(?:includes|match|startsWith|indexOf|endsWith|search)\(|\s*[=!]==))");
  const std::vector<std::string> lines = statements_of(path);
  std::map<std::string, std::string> words_of;
  std::smatch match;
  for (const std::string& line : lines) {
    if (line.find(" k") != std::string::npos && std::regex_search(line, match, constant)) words_of[match[1]] = match[2];
  }
  std::vector<std::string> found;
  for (const std::string& line : lines) {
    if (line.find('(') == std::string::npos && line.find("= ") == std::string::npos) continue;
    for (std::sregex_iterator at(line.begin(), line.end(), by_literal), end; at != end; ++at) {
      const std::string literal = (*at)[1].matched ? (*at)[1] : (*at)[2];
      if (is_wordy(literal)) found.push_back(literal);
    }
    for (std::sregex_iterator at(line.begin(), line.end(), by_constant), end; at != end; ++at) {
      const auto words = words_of.find((*at)[1]);
      if (words != words_of.end() && is_wordy(words->second)) found.push_back(words->second);
    }
    if (std::regex_search(line, match, in_text)) found.push_back(match.str());
  }
  return found;
}

bool is_allowed(const std::string& path, const std::string& words) {
  return std::any_of(std::begin(kAllowedWords), std::end(kAllowedWords), [&](const AllowedWords& allowed) {
    return path.find(allowed.path) != std::string::npos && words.find(allowed.words) != std::string::npos;
  });
}

TEST(Layering, NoCodeReadsASentence) {
  for (const char* root : {"src", "kernels"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(ROOFLINE_SOURCE_DIR) / root)) {
      const std::string ending = entry.path().extension().string();
      if (ending != ".cpp" && ending != ".hpp" && ending != ".cu" && ending != ".cuh" && ending != ".js") continue;
      for (const std::string& words : sentences_read_by(entry.path())) {
        EXPECT_TRUE(is_allowed(entry.path().string(), words))
            << entry.path() << " looks for \"" << words << "\" in a text: carry the fact as a type";
      }
    }
  }
}

TEST(Layering, FindsCodeThatReadsASentence) {
  const fs::path folder = fs::temp_directory_path() / "roofline-layering";
  fs::create_directories(folder);
  const auto finds = [&](const char* name, const char* text) {
    std::ofstream(folder / name) << text;
    return sentences_read_by(folder / name).size();
  };
  EXPECT_EQ(finds("a.cpp", "if (summary.find(\"non-temporal stores\") != npos) f();"), 1U);
  EXPECT_EQ(finds("a.cpp", "if (direction.starts_with(\n        \"host to device\")) f();"), 1U);
  EXPECT_EQ(finds("a.cpp", "return name == \"huge pages\" || \"PCI address\" == name;"), 2U);
  EXPECT_EQ(finds("a.cpp", "constexpr auto kNo = \"not permitted\";\nif (text.contains(kNo)) f();"), 1U);
  EXPECT_EQ(finds("a.cpp", "const bool no_driver = listing.reason.find(\"libcuda\") != npos;"), 1U);
  EXPECT_EQ(finds("a.js", "if (/ of /.test(cell.textContent)) continue;\nif (name === 'To win') f();"), 2U);
  EXPECT_EQ(finds("a.cpp", "if (name == \"fp32\" || path.find(\"::\") == 0 || text.starts_with(\"## \")) f();"), 0U);
  EXPECT_EQ(finds("a.cpp", "fmt::format(\"{} is slow\", name); sentences.push_back(\"two words\");"), 0U);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace roofline
