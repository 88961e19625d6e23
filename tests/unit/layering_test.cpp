// The house: includes point down the layers and never up (docs/architecture.md).
#include <gtest/gtest.h>

#include <algorithm>
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
    {"device", {"host", "text", "measure", "model"}},
    {"op", {"device", "host", "text", "measure", "model"}},
    {"kernels", {"op", "device", "host", "text", "measure", "model"}},
    {"report", {"op", "text", "measure", "model"}},
    {"inject", {}},
    {"portable", {}},
    {"user", {"op", "device", "host", "text", "measure", "model"}},
    {"config", {"user", "op", "host", "text", "model"}},
    {"calibrate", {"report", "op", "device", "host", "text", "measure", "model"}},
    {"analyze", {"calibrate", "config", "user", "report", "op", "device", "host", "text", "measure", "model"}},
    {"profile", {"inject", "calibrate", "report", "op", "device", "host", "text", "measure", "model"}},
    {"import", {"profile", "inject", "calibrate", "report", "op", "device", "host", "text", "measure", "model"}},
    {"fleet", {"report", "host", "text", "measure", "model"}},
    {"monitor", {"device", "text", "measure", "model"}},
    {"render", {"fleet", "monitor", "report", "op", "text", "measure", "model"}},
    {"cli",
     {"import", "profile", "analyze", "calibrate", "fleet", "monitor", "render", "config", "user", "report", "op",
      "device", "host", "text", "measure", "model"}},
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

}  // namespace
}  // namespace roofline
