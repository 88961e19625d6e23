// Formulas for tensors, work and expected values; files and other kernels where no formula says what is right.
#include "user/user_op.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "device/device.hpp"
#include "measure/statistics.hpp"
#include "op/tolerance.hpp"
#include "user/binding.hpp"
#include "user/input_elements.hpp"
#include "user/input_values.hpp"
#include "user/npy.hpp"
#include "user/user_implementation.hpp"
#include "user/work_of_formulas.hpp"

namespace roofline {
namespace {

/// What outputs are compared with: numbers.
NpyArray read_expected(const std::filesystem::path& file, std::int64_t elements) {
  NpyArray array = read_npy(file, elements);
  const std::vector<double>& values = array.values;
  const auto odd = std::find_if(values.begin(), values.end(), [](double value) { return !std::isfinite(value); });
  if (odd != values.end())
    throw Error(fmt::format("{}: element {} is {}, which no output can be compared with", file.string(),
                            odd - values.begin(), *odd));
  return array;
}

/// The median of the sizes of values that are not 0, of at most 65,536 of them; 1 if there are none.
template <typename Values>
double typical_size(const Values& values, std::int64_t count) {
  constexpr std::int64_t kMost = 65536;
  std::vector<double> sizes;
  for (std::int64_t i = 0; i < count; i += (count + kMost - 1) / kMost) {
    const double size = std::abs(values(i));
    if (size > 0 && std::isfinite(size)) sizes.push_back(size);
  }
  return upper_median(std::move(sizes), 1.0);
}

/// Roundoff of the arithmetic that a correct kernel uses: fp64 for such an output, products of tf32 if a tensor has
/// that type, else fp32. Integers computed from integers are exact.
double roundoff_of(DType output, const std::vector<BufferSpec>& buffers) {
  const auto any = [&](auto holds) {
    return std::any_of(buffers.begin(), buffers.end(),
                       [&](const BufferSpec& buffer) { return is_read(buffer.role) && holds(buffer.dtype); });
  };
  if (output == DType::tf32 || any([](DType dtype) { return dtype == DType::tf32; }))
    return operand_roundoff(DType::tf32);
  if (!is_integer(output)) return unit_roundoff(output == DType::fp64 ? DType::fp64 : DType::fp32);
  if (any([](DType dtype) { return !is_integer(dtype) && dtype != DType::fp64; })) return unit_roundoff(DType::fp32);
  return any([](DType dtype) { return dtype == DType::fp64; }) ? unit_roundoff(DType::fp64) : 0;
}

/// What a formula says of an output's elements.
class FormulaValues {
 public:
  /// `stated`: the suite's own tolerance.
  FormulaValues(ElementFormula formula, DType dtype, double roundoff, std::optional<Tolerance> stated)
      : formula_(std::move(formula)),
        dtype_(dtype),
        roundoff_(roundoff),
        stated_(stated),
        whole_(is_integer(dtype) && roundoff == 0 && !stated && formula_.may_be_whole()) {}

  Expectation operator()(std::int64_t i) {
    if (whole_) {
      const WholeResult exact = formula_.whole(i);
      if (exact.status == WholeStatus::exact) return {static_cast<double>(exact.value), 0, exact.value};
      // Doubles may have rounded what led to it, even where the result is small.
      if (exact.status == WholeStatus::too_large) return {formula_(i), std::numeric_limits<double>::quiet_NaN()};
    }
    const auto [value, error] = formula_.bounded(i, roundoff_);
    if (stated_) return {value, stated_->permitted(value)};
    const double permitted = storage_error(dtype_, value) + error + flush_error(dtype_);
    const bool rounded = is_integer(dtype_) && std::abs(value) > static_cast<double>(kLargestSize) &&
                         permitted < unit_roundoff(DType::fp64) * std::abs(value);
    return {value, rounded ? std::numeric_limits<double>::quiet_NaN() : permitted};
  }

 private:
  ElementFormula formula_;
  DType dtype_;
  double roundoff_;
  std::optional<Tolerance> stated_;
  bool whole_;
};

std::vector<const BufferSpec*> outputs_of(const KernelSpec& spec) {
  std::vector<const BufferSpec*> outputs;
  for (const BufferSpec& buffer : spec.buffers) {
    if (!buffer.workspace && is_written(buffer.role)) outputs.push_back(&buffer);
  }
  return outputs;
}

/// The tensor of that name, which exists.
const TensorSpec& tensor_named(const std::vector<TensorSpec>& tensors, const std::string& name) {
  return *std::find_if(tensors.begin(), tensors.end(), [&](const TensorSpec& tensor) { return tensor.name == name; });
}

/// Operations of reductions per element, measured at elements spread over an output: their bounds may depend on the
/// inputs' values.
double steps_per_element(ElementFormula& evaluate, std::int64_t elements) {
  constexpr std::int64_t kMeasured = 16;
  if (elements <= kMeasured) return 0;  // an output that is compared completely in any case
  evaluate(0);                          // reductions that are the same for all elements are computed here
  const std::int64_t before = evaluate.steps();
  for (std::int64_t k = 1; k <= kMeasured; ++k) evaluate(elements / (kMeasured + 1) * k);
  return static_cast<double>(evaluate.steps() - before) / kMeasured;
}

}  // namespace

struct UserOp::Known {
  std::map<std::string, NpyArray> files;  ///< by output
  std::vector<HostTensor> results;        ///< of the kernel that is right, in the order of the outputs
  std::map<std::string, double> steps;    ///< operations of reductions per element, by output
  std::vector<double> sizes;              ///< typical |value| by output, where no formula gives them
};

UserOp::UserOp(std::shared_ptr<const KernelSpec> spec, std::shared_ptr<const KernelSpec> same_as)
    : spec_(std::move(spec)), same_as_(std::move(same_as)), known_(std::make_unique<Known>()) {
  std::vector<std::string> texts;
  for (const auto& [output, formula] : spec_->expect.formulas) texts.push_back(output + " = " + formula.text());
  summary_ = texts.empty() ? spec_->source.filename().string() : fmt::format("{}", fmt::join(texts, ", "));
}

UserOp::~UserOp() = default;

std::string_view UserOp::name() const { return spec_->name; }
std::string_view UserOp::summary() const { return summary_; }

std::vector<ShapeParameter> UserOp::parameters() const {
  std::vector<ShapeParameter> parameters;
  for (const std::string& extent : spec_->extents) {
    parameters.push_back({.name = extent, .meaning = "as the formulas use it"});
  }
  return parameters;
}

std::vector<TensorSpec> UserOp::tensors(const Workload& workload) const { return tensors_of(*spec_, workload); }

Work UserOp::work(const Workload& workload, DeviceKind device) const {
  const Values values = values_of({}, workload);
  const auto amount = [&](const Formula& formula) {
    const double value = formula.number(values);
    if (value < 0) formula.place().fail(fmt::format("'{}' is {}, and work is never negative", formula.text(), value));
    return value;
  };
  Work work;
  for (const auto& [pipe, formula] : spec_->work.flops) work.flops[pipe] = amount(formula);
  for (const auto& [pipe, formula] : spec_->work.uncounted) work.uncounted[pipe] = amount(formula);
  Traffic traffic;
  const std::vector<TensorSpec> tensors = this->tensors(workload);
  for (const TensorSpec& tensor : tensors) {
    const auto bytes = static_cast<double>(tensor.bytes());
    if (is_read(tensor.role)) traffic.read += bytes;
    if (is_written(tensor.role)) traffic.write += bytes;
  }
  const auto has = [&](TensorRole role) {
    return std::any_of(tensors.begin(), tensors.end(), [&](const TensorSpec& tensor) { return tensor.role == role; });
  };
  traffic.in_place = has(TensorRole::inout) && !has(TensorRole::output);
  if (!spec_->work.read.empty()) traffic.read = amount(spec_->work.read);
  if (!spec_->work.write.empty()) traffic.write = amount(spec_->work.write);
  work.bytes[main_memory(device)] = traffic;
  work.launches = static_cast<std::int64_t>(spec_->steps.size());
  return work;
}

std::vector<std::int64_t> UserOp::edges(const Workload& workload) const {
  constexpr int kRows = 32;
  std::set<std::int64_t> lengths;
  for (const auto& [name, extent] : workload.shape.extents()) {
    lengths.insert(extent);
    for (const auto& [other, more] : workload.shape.extents()) {
      if (other != name && extent > 0 && more <= std::numeric_limits<std::int64_t>::max() / extent)
        lengths.insert(extent * more);
    }
  }
  std::mt19937_64 generator(workload.seed);
  std::vector<std::int64_t> indices;
  std::int64_t before = 0;
  for (const TensorSpec& tensor : tensors(workload)) {
    if (!is_written(tensor.role)) continue;
    for (const std::int64_t length : lengths) {
      if (length < 2 || length >= tensor.elements) continue;
      std::uniform_int_distribution<std::int64_t> any(0, tensor.elements / length - 1);
      for (int i = 0; i < kRows; ++i) {
        const std::int64_t row = before + any(generator) * length;
        indices.insert(indices.end(), {row, row + length - 1});
      }
    }
    before += tensor.elements;
  }
  return indices;
}

double UserOp::reference_cost(const Workload&) const {
  // A look-up, or a formula, of which an operation takes some 3 ns.
  double cost = 4;
  for (const auto& [output, formula] : spec_->expect.formulas) {
    const auto steps = known_->steps.find(output);
    const double reductions = steps == known_->steps.end() ? 0 : steps->second;
    cost = std::max(cost, 50 + 2 * static_cast<double>(formula.text().size()) + 4 * reductions);
  }
  return cost;
}

void UserOp::reference(const Workload& workload, std::span<const HostTensor> inputs,
                       std::span<const std::int64_t> indices, std::span<double> expected) const {
  std::vector<Expectation> all(indices.size());
  expectations(workload, inputs, indices, all);
  std::transform(all.begin(), all.end(), expected.begin(), [](const Expectation& one) { return one.value; });
}

void UserOp::expectations(const Workload& workload, std::span<const HostTensor> inputs,
                          std::span<const std::int64_t> indices, std::span<Expectation> expected) const {
  const Values values = values_of({}, workload);
  const auto elements = elements_of(inputs);
  std::size_t at = 0;
  std::int64_t first = 0;
  std::size_t output_index = 0;
  for (const TensorSpec& tensor : tensors(workload)) {
    if (!is_written(tensor.role)) continue;
    const std::int64_t end = first + tensor.elements;
    const auto formula = spec_->expect.formulas.find(tensor.name);
    if (formula != spec_->expect.formulas.end()) {
      FormulaValues value_of(ElementFormula(formula->second, values, elements, tensor.elements), tensor.dtype,
                             roundoff_of(tensor.dtype, spec_->buffers), stated_tolerance(output_index));
      for (; at < indices.size() && indices[at] < end; ++at) expected[at] = value_of(indices[at] - first);
    } else {
      for (; at < indices.size() && indices[at] < end; ++at)
        expected[at] = known_value(tensor, output_index, indices[at] - first);
    }
    first = end;
    ++output_index;
  }
}

/// Expected value of an output without a formula: from its file, or from the reference kernel.
Expectation UserOp::known_value(const TensorSpec& tensor, std::size_t output, std::int64_t index) const {
  const auto file = known_->files.find(tensor.name);
  const bool exact = is_integer(tensor.dtype) && !stated_tolerance(output);
  Expectation known;
  if (file != known_->files.end()) {
    const auto i = static_cast<std::size_t>(index);
    known.value = file->second.values[i];
    if (exact && !file->second.whole.empty()) known.whole = file->second.whole[i];
  } else {
    const HostTensor& result = known_->results.at(output);
    known.value = result[index];
    if (exact && is_integer(result.spec().dtype)) known.whole = result.whole(index);
  }
  known.permitted = exact ? storage_error(tensor.dtype, known.value) : tolerance_of(output).permitted(known.value);
  return known;
}

std::optional<Tolerance> UserOp::stated_tolerance(std::size_t output) const {
  if (!spec_->relative_tolerance && !spec_->magnitude) return std::nullopt;
  return tolerance_of(output);
}

void UserOp::prepare_reference(const Workload& workload, Device& device, std::span<const HostTensor> inputs) const {
  known_->files.clear();
  known_->results.clear();
  known_->steps.clear();
  const std::vector<TensorSpec> tensors = this->tensors(workload);
  for (const auto& [output, formula] : spec_->expect.formulas) {
    const TensorSpec& tensor = tensor_named(tensors, output);
    ElementFormula evaluate(formula, values_of({}, workload), elements_of(inputs), tensor.elements);
    known_->steps[output] = steps_per_element(evaluate, tensor.elements);
  }
  for (const auto& [output, path] : spec_->expect.files) {
    known_->files[output] = read_expected(path, tensor_named(tensors, output).elements);
  }
  if (same_as_) run_what_is_right(workload, device, inputs);
  known_->sizes.clear();
  for (const TensorSpec& tensor : tensors) {
    if (!is_written(tensor.role)) continue;
    const auto file = known_->files.find(tensor.name);
    if (file != known_->files.end()) {
      known_->sizes.push_back(typical_size(
          [&](std::int64_t i) { return file->second.values[static_cast<std::size_t>(i)]; }, tensor.elements));
    } else if (same_as_) {
      const HostTensor& result = known_->results.at(known_->sizes.size());
      known_->sizes.push_back(typical_size([&](std::int64_t i) { return result[i]; }, tensor.elements));
    } else {
      known_->sizes.push_back(1);
    }
  }
}

/// Runs the kernel that `same_as` names, on the same inputs.
void UserOp::run_what_is_right(const Workload& workload, Device& device, std::span<const HostTensor> inputs) const {
  const std::vector<TensorSpec> tensors = this->tensors(workload);
  // The other kernel's tensors, by their names: our inputs, and outputs of its own.
  std::vector<std::unique_ptr<Buffer>> memory;
  std::vector<void*> pointers;
  const std::vector<TensorSpec> theirs = tensors_of(*same_as_, workload);
  for (const TensorSpec& tensor : theirs) {
    memory.push_back(device.allocate(static_cast<std::size_t>(tensor.bytes())));
    pointers.push_back(memory.back()->data());
    if (!is_read(tensor.role)) continue;
    const auto input =
        std::find_if(inputs.begin(), inputs.end(), [&](const auto& i) { return i.spec().name == tensor.name; });
    if (input == inputs.end() || input->spec().bytes() != tensor.bytes()) {
      throw Error(fmt::format("'{}' can't be compared with '{}': '{}' is not the same in both", name(), same_as_->name,
                              tensor.name));
    }
    device.upload(pointers.back(), input->bytes().data(), input->bytes().size());
  }
  const Implementation right = user_implementations(same_as_).front();
  if (right.unsupported) {
    if (const auto reason = right.unsupported(workload, device)) {
      throw Error(fmt::format("'{}', the reference, {}", same_as_->name, *reason));
    }
  }
  const Kernel kernel = right.prepare(workload, device);
  device.run_as_timed([&] { kernel(pointers); });
  device.synchronize();
  for (const TensorSpec& tensor : tensors) {
    if (!is_written(tensor.role)) continue;
    const auto result =
        std::find_if(theirs.begin(), theirs.end(), [&](const auto& t) { return t.name == tensor.name; });
    if (result == theirs.end() || !is_written(result->role) || result->elements != tensor.elements) {
      throw Error(fmt::format("'{}' has no output '{}' of {} elements to compare with", same_as_->name, tensor.name,
                              tensor.elements));
    }
    HostTensor& values = known_->results.emplace_back(*result);
    device.download(values.bytes().data(), pointers[static_cast<std::size_t>(result - theirs.begin())],
                    values.bytes().size());
  }
}

Tolerance UserOp::tolerance(const Workload&) const { return tolerance_of(0); }

/// Where no formula gives a bound: of a sum of some terms as large as the output's values are.
Tolerance UserOp::tolerance_of(std::size_t output) const {
  const auto outputs = outputs_of(*spec_);
  const DType type = output < outputs.size() ? outputs[output]->dtype : dtype();
  const double size = output < known_->sizes.size() ? known_->sizes[output] : 1;
  Tolerance tolerance = storage_tolerance(type, spec_->magnitude.value_or(size), 8);
  if (spec_->relative_tolerance) tolerance.relative = *spec_->relative_tolerance;
  return tolerance;
}

std::vector<Implementation> UserOp::implementations() const { return user_implementations(spec_); }

void UserOp::fill(const Workload& workload, std::size_t t, std::uint64_t seed, HostTensor& tensor) const {
  fill_input(*spec_, workload, t, seed, tensor);
}

bool UserOp::start_repeats(std::size_t t) const {
  const BufferSpec& buffer = tensor_buffer(*spec_, t);
  return !buffer.ascending && is_repeatable(buffer.fill);
}

bool UserOp::has_reference() const { return !spec_->expect.unverified; }

std::string UserOp::reference_name() const {
  if (same_as_) return fmt::format("the kernel '{}'", same_as_->name);
  if (!spec_->expect.files.empty()) return "a file of the suite's";
  const auto outputs = outputs_of(*spec_);
  const bool exact = std::all_of(outputs.begin(), outputs.end(), [&](const BufferSpec* output) {
    return is_integer(output->dtype) && roundoff_of(output->dtype, spec_->buffers) == 0;
  });
  return exact ? "the suite's formula in integers" : "the suite's formula in fp64";
}

std::optional<WorkBounds> UserOp::work_bounds(const Workload& workload, std::span<const HostTensor> inputs) const {
  WorkBounds bounds = work_of_formulas(*spec_, workload, inputs);
  if (!spec_->has_work) bounds.flops_least = bounds.flops_most = std::nullopt;  // none are stated
  return bounds;
}

bool UserOp::wants_counted_work() const { return !spec_->has_work; }

DType UserOp::dtype() const {
  const auto outputs = outputs_of(*spec_);
  return outputs.empty() ? DType::fp32 : outputs.front()->dtype;
}

}  // namespace roofline
