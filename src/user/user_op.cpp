// Formulas for tensors, work and expected values; files and other kernels where no formula says what is right.
#include "user/user_op.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numbers>

#include "device/device.hpp"
#include "op/host_parallel.hpp"
#include "op/tolerance.hpp"
#include "user/binding.hpp"
#include "user/npy.hpp"
#include "user/user_implementation.hpp"

namespace roofline {
namespace {

/// splitmix64 of a counter: any element on its own.
double uniform(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t x = seed + 0x9E3779B97F4A7C15U * (index + 1);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  x ^= x >> 31;
  return static_cast<double>(x >> 11) * 0x1p-53;
}

/// Box and Muller.
double normal(std::uint64_t seed, std::uint64_t index) {
  const double radius = std::sqrt(-2 * std::log(1 - uniform(seed, 2 * index)));
  return radius * std::cos(2 * std::numbers::pi * uniform(seed, 2 * index + 1));
}

template <typename T>
void put(HostTensor& tensor, std::int64_t index, T value) {
  std::memcpy(tensor.bytes().data() + index * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

template <typename T>
T nearest_integer(double value) {
  // The largest of 64 bits are no doubles.
  constexpr double kLow = std::max(static_cast<double>(std::numeric_limits<T>::min()), -0x1p53);
  constexpr double kHigh = std::min(static_cast<double>(std::numeric_limits<T>::max()), 0x1p53);
  return static_cast<T>(std::clamp(std::nearbyint(value), kLow, kHigh));
}

/// Stores one element, rounded to the tensor's type.
void store(HostTensor& tensor, std::int64_t index, double value) {
  switch (tensor.spec().dtype) {
    case DType::fp64:
      return put(tensor, index, value);
    case DType::fp32:
    case DType::tf32:
      return put(tensor, index, static_cast<float>(value));
    case DType::fp16:
      return put(tensor, index, to_fp16(value));
    case DType::bf16:
      return put(tensor, index, to_bf16(value));
    case DType::fp8:
      return put(tensor, index, to_fp8(value));
    case DType::int8:
      return put(tensor, index, nearest_integer<std::int8_t>(value));
    case DType::int32:
      return put(tensor, index, nearest_integer<std::int32_t>(value));
    case DType::uint8:
      return put(tensor, index, nearest_integer<std::uint8_t>(value));
    case DType::int16:
      return put(tensor, index, nearest_integer<std::int16_t>(value));
    case DType::uint16:
      return put(tensor, index, nearest_integer<std::uint16_t>(value));
    case DType::uint32:
      return put(tensor, index, nearest_integer<std::uint32_t>(value));
    case DType::int64:
      return put(tensor, index, nearest_integer<std::int64_t>(value));
    case DType::uint64:
      return put(tensor, index, nearest_integer<std::uint64_t>(value));
  }
}

template <typename Value>
void store_all(HostTensor& tensor, Value value) {
  host_parallel(tensor.spec().elements, std::int64_t{1} << 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) store(tensor, i, value(static_cast<std::uint64_t>(i)));
  });
}

/// Every element is a number, and one that the type can hold, if rounded: integers stay what they are.
void require_representable(const std::vector<double>& values, const HostTensor& stored, const std::string& file) {
  const DType dtype = stored.spec().dtype;
  const bool integers = unit_roundoff(dtype) == 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double kept = stored[static_cast<std::int64_t>(i)];
    const bool overflows = std::isinf(kept) || (dtype == DType::fp8 && std::abs(values[i]) > 464);
    if (std::isfinite(values[i]) && !overflows && (!integers || kept == values[i])) continue;
    throw Error(fmt::format("{}: element {} is {}, which is no {}", file, i, values[i], to_string(dtype)));
  }
}

/// What outputs are compared with: numbers.
std::vector<double> read_expected(const std::filesystem::path& file, std::int64_t elements) {
  std::vector<double> values = read_npy(file, elements);
  const auto odd = std::find_if(values.begin(), values.end(), [](double value) { return !std::isfinite(value); });
  if (odd != values.end())
    throw Error(fmt::format("{}: element {} is {}, which no output can be compared with", file.string(),
                            odd - values.begin(), *odd));
  return values;
}

std::vector<const BufferSpec*> outputs_of(const KernelSpec& spec) {
  std::vector<const BufferSpec*> outputs;
  for (const BufferSpec& buffer : spec.buffers) {
    if (!buffer.workspace && is_written(buffer.role)) outputs.push_back(&buffer);
  }
  return outputs;
}

}  // namespace

struct UserOp::Known {
  std::map<std::string, std::vector<double>> files;  ///< by output
  std::vector<HostTensor> results;                   ///< of the kernel that is right, in the order of the outputs
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
  for (const TensorSpec& tensor : tensors(workload)) {
    const auto bytes = static_cast<double>(tensor.bytes());
    if (is_read(tensor.role)) traffic.read += bytes;
    if (is_written(tensor.role)) traffic.write += bytes;
  }
  if (!spec_->work.read.empty()) traffic.read = amount(spec_->work.read);
  if (!spec_->work.write.empty()) traffic.write = amount(spec_->work.write);
  work.bytes[main_memory(device)] = traffic;
  work.launches = static_cast<std::int64_t>(spec_->steps.size());
  return work;
}

double UserOp::reference_cost(const Workload&) const {
  // A look-up, or a formula, of which an operation takes some 3 ns.
  double cost = 4;
  for (const auto& [output, formula] : spec_->expect.formulas) {
    cost = std::max(cost, 50 + 2 * static_cast<double>(formula.text().size()));
  }
  return cost;
}

void UserOp::reference(const Workload& workload, std::span<const HostTensor> inputs,
                       std::span<const std::int64_t> indices, std::span<double> expected) const {
  const Values values = values_of({}, workload);
  std::map<std::string, ElementFormula::Element> elements;
  for (const HostTensor& input : inputs) {
    elements[input.spec().name] = [&input](double index) {
      const bool inside =
          index >= 0 && index < static_cast<double>(input.spec().elements) && index == std::floor(index);
      if (!inside) {
        throw Error(fmt::format("the expected value asks for {}[{}], and there are {} elements", input.spec().name,
                                index, input.spec().elements));
      }
      return input[static_cast<std::int64_t>(index)];
    };
  }
  std::size_t at = 0;
  std::int64_t first = 0;
  std::size_t output_index = 0;
  for (const TensorSpec& tensor : tensors(workload)) {
    if (!is_written(tensor.role)) continue;
    const std::int64_t end = first + tensor.elements;
    const auto formula = spec_->expect.formulas.find(tensor.name);
    if (formula != spec_->expect.formulas.end()) {
      ElementFormula evaluate(formula->second, values, elements);
      double* const i = evaluate.variable("i");
      std::vector<std::pair<double*, const HostTensor*>> variables;
      for (const HostTensor& input : inputs) {
        if (double* variable = evaluate.variable(input.spec().name)) variables.emplace_back(variable, &input);
      }
      for (; at < indices.size() && indices[at] < end; ++at) {
        const std::int64_t index = indices[at] - first;
        if (i != nullptr) *i = static_cast<double>(index);
        for (const auto& [variable, input] : variables) {
          *variable = index < input->spec().elements ? (*input)[index] : std::nan("");
        }
        expected[at] = evaluate();
      }
    } else {
      const auto file = known_->files.find(tensor.name);
      for (; at < indices.size() && indices[at] < end; ++at) {
        const std::int64_t index = indices[at] - first;
        expected[at] = file != known_->files.end() ? file->second[static_cast<std::size_t>(index)]
                                                   : known_->results.at(output_index)[index];
      }
    }
    first = end;
    ++output_index;
  }
}

void UserOp::prepare_reference(const Workload& workload, Device& device, std::span<const HostTensor> inputs) const {
  known_->files.clear();
  known_->results.clear();
  const std::vector<TensorSpec> tensors = this->tensors(workload);
  for (const auto& [output, path] : spec_->expect.files) {
    const auto tensor =
        std::find_if(tensors.begin(), tensors.end(), [&, &name = output](const auto& t) { return t.name == name; });
    known_->files[output] = read_expected(path, tensor->elements);
  }
  if (!same_as_) return;
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
      throw Error(fmt::format("'{}', which says what is right, {}", same_as_->name, *reason));
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

Tolerance UserOp::tolerance(const Workload&) const {
  // Of the coarsest output: a sum of some terms of size 1. Who knows better, says so.
  DType coarsest = dtype();
  for (const BufferSpec* output : outputs_of(*spec_)) {
    if (unit_roundoff(output->dtype) > unit_roundoff(coarsest)) coarsest = output->dtype;
  }
  Tolerance tolerance = storage_tolerance(coarsest, spec_->magnitude.value_or(1), 8);
  if (spec_->relative_tolerance) tolerance.relative = *spec_->relative_tolerance;
  return tolerance;
}

std::vector<Implementation> UserOp::implementations() const { return user_implementations(spec_); }

void UserOp::fill(const Workload& workload, std::size_t t, std::uint64_t seed, HostTensor& tensor) const {
  std::vector<const BufferSpec*> buffers;
  for (const BufferSpec& buffer : spec_->buffers) {
    if (!buffer.workspace) buffers.push_back(&buffer);
  }
  const InputFill& fill = buffers.at(t)->fill;
  switch (fill.kind) {
    case InputFill::Kind::uniform:
      return tensor.fill_random(seed);
    case InputFill::Kind::normal:
      return store_all(tensor, [&](std::uint64_t i) { return normal(seed, i); });
    case InputFill::Kind::constant:
      return store_all(tensor, [&](std::uint64_t) { return fill.low; });
    case InputFill::Kind::range:
      return store_all(tensor, [&](std::uint64_t i) { return fill.low + (fill.high - fill.low) * uniform(seed, i); });
    case InputFill::Kind::npy: {
      std::vector<double> values = read_npy(fill.file, tensors(workload).at(t).elements);
      values.resize(static_cast<std::size_t>(tensor.spec().elements));
      store_all(tensor, [&](std::uint64_t i) { return values[i]; });
      return require_representable(values, tensor, fill.file.string());
    }
  }
}

bool UserOp::has_reference() const { return !spec_->expect.unverified; }

std::string UserOp::reference_name() const {
  if (same_as_) return fmt::format("the kernel '{}'", same_as_->name);
  return spec_->expect.files.empty() ? "the suite's formula in fp64" : "a file of the suite's";
}

bool UserOp::wants_counted_work() const { return !spec_->has_work; }

DType UserOp::dtype() const {
  const auto outputs = outputs_of(*spec_);
  return outputs.empty() ? DType::fp32 : outputs.front()->dtype;
}

}  // namespace roofline
