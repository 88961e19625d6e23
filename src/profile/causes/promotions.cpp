// Arrays of double precision that an operation with one of single precision makes: all that follows is twice as large.
// CuPy's kernels name the types of their operands.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "profile/causes/detectors.hpp"
#include "profile/causes/kernel_names.hpp"
#include "text/demangle.hpp"
#include "text/format.hpp"
#include "text/parse.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// The types of "cupy_multiply__float32_float64_float64", its result's last. Python numbers ("float") are no arrays.
std::vector<std::string> operand_types(std::string_view symbol) {
  const std::size_t types = symbol.starts_with("cupy_") ? symbol.find("__") : std::string_view::npos;
  return types == std::string_view::npos ? std::vector<std::string>() : split(symbol.substr(types + 2), '_');
}

bool is_double(const std::string& type) { return type == "float64" || type == "complex128"; }
bool is_single(const std::string& type) { return type == "float32" || type == "complex64" || type == "float16"; }

bool is_in_double(std::string_view symbol) {
  const std::vector<std::string> types = operand_types(symbol);
  if (!types.empty()) return std::ranges::any_of(types, is_double);
  return is_double_precision_product(symbol) || contains_any(demangled(symbol), {"double"});
}

}  // namespace

bool promotes_to_double(std::string_view symbol) {
  const std::vector<std::string> types = operand_types(symbol);
  return types.size() > 2 && is_double(types.back()) && std::any_of(types.begin(), types.end() - 1, is_double) &&
         std::any_of(types.begin(), types.end() - 1, is_single);
}

std::vector<FoundCause> find_promotions(const CauseInputs& inputs) {
  constexpr double kSaved = 0.5;  // half of the bytes; of the arithmetic more
  const FaultyKernels promoting =
      faulty_kernels(inputs, [](const StepActivity& entry) { return promotes_to_double(entry.symbol); });
  if (promoting.sum.count == 0) return {};
  std::map<std::string_view, bool> known;
  const FaultyKernels kernels = faulty_kernels(inputs, [&](const StepActivity& entry) {
    const auto [found, is_new] = known.try_emplace(entry.symbol);
    if (is_new) found->second = is_in_double(entry.symbol);
    return found->second;
  });
  FoundCause found = kernels.cause(SavingCause::double_precision, inputs, CauseDetail::mixed_precision);
  found.saving.line = promoting.sum.line();
  found.saving.seconds *= kSaved;
  found.saving.what = what_is_lost(SavingCause::double_precision, CauseDetail::mixed_precision);
  found.saving.evidence = kernels.amount(inputs.steps, "kernels with arrays of double precision");
  return {std::move(found)};
}

}  // namespace roofline
