#include "report/titles.hpp"

#include <array>
#include <cctype>

#include "model/spelling.hpp"

namespace roofline {
namespace {

constexpr std::array<std::string_view, 6> kBoundTitles = {
    "memory-bound", "compute-bound", "latency-bound", "communication-bound", "balanced", "without a known roof"};

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

std::string title_of(Level level) { return level == Level::shared ? "shared memory" : upper(to_string(level)); }

std::string_view title_of(BoundLabel label) { return spell(kBoundTitles, label); }

std::string title_of_pipe(std::string_view name) {
  constexpr std::string_view kTensor = "tensor.";
  return name.starts_with(kTensor) ? upper(name.substr(kTensor.size())) + " tensor" : upper(name);
}

}  // namespace roofline
