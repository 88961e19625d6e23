#include <fmt/format.h>

#include <algorithm>

#include "import/json_values.hpp"
#include "import/mean_rows.hpp"
#include "import/other_tools.hpp"

namespace roofline {
namespace {

/// A kernel's short name is its last word: the layer's name becomes one word.
std::string one_word(std::string name) {
  for (std::size_t at = name.find(" + "); at != std::string::npos; at = name.find(" + ", at)) name.replace(at, 3, "+");
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

}  // namespace

ImportedProfile read_tensorrt_profile(ByteSource& source) {
  MeanRows rows(source, ImportedKind::tensorrt, "trtexec", "trtexec states no FLOPs or bytes of layers");
  double inferences = 0;
  int runs = 0;
  const auto take = [&](std::size_t, const nlohmann::json& layer) {
    const std::string name = text_in(layer, "name");
    if (name.empty()) {
      inferences += number_in(layer, "count").value_or(0);
      runs += layer.is_object() ? 1 : 0;
      return;
    }
    constexpr double kNanoseconds = 1e6;
    rows.add(
        {.name = one_word(name), .detail = name, .time_ns = number_in(layer, "averageMs").value_or(0) * kNanoseconds});
  };
  read_json_values(source, {{"*"}}, take, JsonDocuments::several);
  if (rows.empty()) source.fail("no layer with a time (\"averageMs\")");
  rows.notes().push_back(
      fmt::format("rows are layers of one inference: the mean of {:.0f}; a layer may be several kernels",
                  std::max(1.0, inferences)));
  if (runs > 1) rows.notes().push_back(fmt::format("the file has {} runs: each is a launch of its layers", runs));
  rows.notes().emplace_back("kernels, FLOPs and bytes: ncu --set roofline of the program");
  return rows.finish({});
}

bool looks_like_tensorrt_profile(std::string_view beginning) {
  return beginning.find("\"averageMs\"") != std::string_view::npos &&
         beginning.find("\"percentage\"") != std::string_view::npos;
}

}  // namespace roofline
