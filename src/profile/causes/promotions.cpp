// Arrays of double precision that an operation with one of single precision makes: all that follows is twice as large.
// CuPy's kernels name the types of their operands. PyTorch's name the type of the arithmetic, and whether operands are
// converted to it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
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

/// Integers that single precision holds exactly.
bool is_small_integer(const std::string& type) {
  return type == "int8" || type == "uint8" || type == "int16" || type == "uint16";
}

/// True if PyTorch's kernel computes in double precision. Functions with parameters of that type, such as a scale,
/// may be part of the name of any kernel.
bool computes_in_double(std::string_view name) {
  if (contains_any(name, {"<double"})) return true;
  constexpr std::string_view kLambda = "{lambda(";
  for (std::size_t at = name.find(kLambda); at != std::string_view::npos; at = name.find(kLambda, at + 1)) {
    const std::string_view rest = name.substr(at);
    if (contains_any(rest.substr(0, rest.find(')')), {"double"})) return true;
  }
  return false;
}

bool is_in_double(std::string_view symbol) {
  const std::vector<std::string> types = operand_types(symbol);
  if (!types.empty()) return std::ranges::any_of(types, is_double);
  if (is_double_precision_product(symbol)) return true;
  const std::string name = demangled(symbol);
  return contains_any(name, {"at::native::"}) ? computes_in_double(name) : contains_any(name, {"double"});
}

/// An elementwise kernel of PyTorch that converts operands of another type to double precision.
bool converts_to_double(std::string_view symbol) {
  const std::string name = demangled(symbol);
  const bool converts = contains_any(name, {"LoadWithCast", "gpu_kernel_impl<"});
  return converts && !contains_any(name, {"direct_copy_kernel"}) && computes_in_double(name);
}

bool is_in_single(std::string_view symbol) {
  const std::string name = demangled(symbol);
  return contains_any(name, {"at::native::"}) && contains_any(name, {"float"}) && !computes_in_double(name);
}

/// Kernels that convert what one of single precision has made just before.
std::set<const Activity*> promoting_kernels(const StepActivities& steps) {
  std::map<std::string_view, std::pair<bool, bool>> known;  // by symbol: converts to double precision, is in single
  std::map<std::pair<int, std::uint32_t>, bool> single;     // by GPU and stream: its last kernel is
  std::set<const Activity*> promoting;
  for (const StepActivity& entry : steps.all) {
    if (entry.activity->what != ActivityKind::kernel) continue;
    const auto [found, is_new] = known.try_emplace(entry.symbol);
    if (is_new) found->second = {converts_to_double(entry.symbol), is_in_single(entry.symbol)};
    bool& last = single[{entry.activity->device, entry.activity->stream}];
    if (promotes_to_double(entry.symbol) || (last && found->second.first)) promoting.insert(entry.activity);
    last = found->second.second;
  }
  return promoting;
}

/// Kernels in double precision of lines at which an operand was of single precision before the steps: a value that is
/// carried from step to step has become double in the first one.
std::set<const Activity*> promoted_before(const StepActivities& steps) {
  std::map<std::string_view, bool> known;
  std::set<std::pair<int, spool::Id>> lines;  // by process
  for (const Activity& activity : steps.recording.activities) {
    if (activity.what != ActivityKind::kernel || activity.group < 0) continue;
    const std::string& symbol = steps.recording.groups[static_cast<std::size_t>(activity.group)].symbol;
    const auto [found, is_new] = known.try_emplace(symbol);
    if (is_new) found->second = promotes_to_double(symbol);
    const spool::Id line = steps.recording.place(activity).line;
    if (found->second && line != 0) lines.insert({activity.process, line});
  }
  std::set<const Activity*> promoted;
  for (const StepActivity& entry : steps.all) {
    const bool of_line =
        entry.activity->what == ActivityKind::kernel && lines.contains({entry.activity->process, entry.place.line});
    if (of_line && is_in_double(entry.symbol)) promoted.insert(entry.activity);
  }
  return promoted;
}

}  // namespace

bool promotes_to_double(std::string_view symbol) {
  const std::vector<std::string> types = operand_types(symbol);
  if (types.size() <= 2 || !is_double(types.back())) return false;
  const std::span operands(types.begin(), types.end() - 1);
  return std::ranges::any_of(operands, is_small_integer) ||
         (std::ranges::any_of(operands, is_double) && std::ranges::any_of(operands, is_single));
}

std::vector<FoundCause> find_promotions(const CauseInputs& inputs) {
  constexpr double kSaved = 0.5;  // half of the bytes; of the arithmetic more
  std::set<const Activity*> converting = promoting_kernels(inputs.steps);
  if (converting.empty()) converting = promoted_before(inputs.steps);
  const FaultyKernels promoting =
      faulty_kernels(inputs, [&](const StepActivity& entry) { return converting.contains(entry.activity); });
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
