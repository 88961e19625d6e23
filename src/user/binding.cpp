// Evaluates a kernel's formulas in their order: block, then what may use it.
#include "user/binding.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "device/cpu/isa.hpp"
#include "host/environment.hpp"
#include "op/tensor.hpp"
#include "user/call_source.hpp"

namespace roofline {
namespace {

template <typename T>
void append(BoundBytes& bytes, T value) {
  const std::size_t at = (bytes.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T);
  bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

template <typename T>
void append_integer(BoundBytes& bytes, const ScalarSpec& scalar, double value) {
  const bool fits = value == std::floor(value) && value >= static_cast<double>(std::numeric_limits<T>::min()) &&
                    value <= static_cast<double>(std::numeric_limits<T>::max()) && std::abs(value) <= 0x1p53;
  if (!fits) {
    scalar.value.place().fail(
        fmt::format("'{}' is {}, which does not fit {}", scalar.value.text(), value, to_string(scalar.type)));
  }
  append(bytes, static_cast<T>(value));
}

void append_scalar(BoundBytes& bytes, const ScalarSpec& scalar, const Values& values) {
  const double value = scalar.value.number(values);
  switch (scalar.type) {
    case ScalarType::int8:
      return append_integer<std::int8_t>(bytes, scalar, value);
    case ScalarType::uint8:
      return append_integer<std::uint8_t>(bytes, scalar, value);
    case ScalarType::int16:
      return append_integer<std::int16_t>(bytes, scalar, value);
    case ScalarType::uint16:
      return append_integer<std::uint16_t>(bytes, scalar, value);
    case ScalarType::int32:
      return append_integer<std::int32_t>(bytes, scalar, value);
    case ScalarType::uint32:
      return append_integer<std::uint32_t>(bytes, scalar, value);
    case ScalarType::int64:
      return append_integer<std::int64_t>(bytes, scalar, value);
    case ScalarType::uint64:
      return append_integer<std::uint64_t>(bytes, scalar, value);
    case ScalarType::fp16:
      return append(bytes, to_fp16(value));
    case ScalarType::bf16:
      return append(bytes, to_bf16(value));
    case ScalarType::fp32:
      return append(bytes, static_cast<float>(value));
    case ScalarType::fp64:
      return append(bytes, value);
  }
}

/// Bytes of the structure, padded at its end to its largest member.
BoundBytes bind_struct(const StructSpec& structure, const Values& values) {
  BoundBytes bytes;
  std::size_t largest = 1;
  for (const ScalarSpec& field : structure.fields) {
    append_scalar(bytes, field, values);
    largest = std::max(largest, scalar_size(field.type));
  }
  bytes.resize((bytes.size() + largest - 1) / largest * largest);
  return bytes;
}

struct NamedBuffer {
  std::string name;
  std::int64_t elements = 0;
  DType dtype = DType::fp32;
};

/// Tensors, then workspaces.
std::vector<NamedBuffer> buffers_of(const KernelSpec& spec, const Values& values,
                                    const std::vector<TensorSpec>& tensors) {
  std::vector<NamedBuffer> buffers;
  for (const TensorSpec& tensor : tensors) buffers.push_back({tensor.name, tensor.elements, tensor.dtype});
  for (const BufferSpec& buffer : spec.buffers) {
    if (buffer.workspace) buffers.push_back({buffer.name, buffer.size.size(values, 1), buffer.dtype});
  }
  return buffers;
}

std::size_t find_buffer(const std::vector<NamedBuffer>& buffers, const std::string& name, const Place& place) {
  const auto found = std::find_if(buffers.begin(), buffers.end(), [&](const NamedBuffer& b) { return b.name == name; });
  if (found == buffers.end()) {
    std::vector<std::string> names;
    for (const NamedBuffer& buffer : buffers) names.push_back(buffer.name);
    place.fail(fmt::format("there is no buffer '{}' (there is {})", name, fmt::join(names, ", ")));
  }
  return static_cast<std::size_t>(found - buffers.begin());
}

BoundPointer bind_pointer(const PointerSpec& pointer, const std::vector<NamedBuffer>& buffers, const Values& values,
                          const Place& place) {
  const std::size_t index = find_buffer(buffers, pointer.buffer, place);
  if (pointer.offset.empty()) return {index, 0};
  const std::int64_t offset = pointer.offset.size(values);
  if (offset > buffers[index].elements) {
    pointer.offset.place().fail(fmt::format("an offset of {} is outside '{}', which has {} elements", offset,
                                            pointer.buffer, buffers[index].elements));
  }
  return {index, offset * element_size(buffers[index].dtype)};
}

BoundTensorMap bind_map(const TensorMapSpec& map, const std::vector<NamedBuffer>& buffers, const Values& values,
                        const Place& place) {
  const std::size_t index = find_buffer(buffers, map.buffer, place);
  BoundTensorMap bound{.buffer = index, .dtype = buffers[index].dtype, .swizzle_128 = map.swizzle_128};
  bound.rows = map.rows.size(values, 1);
  bound.columns = map.columns.size(values, 1);
  if (bound.rows > buffers[index].elements / bound.columns) {
    place.fail(fmt::format("a map of {} x {} elements is larger than '{}', which has {}", bound.rows, bound.columns,
                           map.buffer, buffers[index].elements));
  }
  const auto box = [&](const Formula& formula) {
    const std::int64_t extent = formula.size(values, 1);
    if (extent > 256) formula.place().fail("the box of a tensor map has 256 elements at most in each direction");
    return static_cast<int>(extent);
  };
  bound.box_rows = box(map.box_rows);
  bound.box_columns = box(map.box_columns);
  return bound;
}

BoundArgument bind_argument(const ArgumentSpec& argument, const std::vector<NamedBuffer>& buffers,
                            const Values& values) {
  if (const auto* pointer = std::get_if<PointerSpec>(&argument.value)) {
    return bind_pointer(*pointer, buffers, values, argument.place);
  }
  if (const auto* map = std::get_if<TensorMapSpec>(&argument.value)) {
    return bind_map(*map, buffers, values, argument.place);
  }
  if (const auto* structure = std::get_if<StructSpec>(&argument.value)) return bind_struct(*structure, values);
  BoundBytes bytes;
  append_scalar(bytes, std::get<ScalarSpec>(argument.value), values);
  return bytes;
}

std::array<std::int64_t, 3> bind_extent(const std::vector<Extent3>& choices, std::size_t choice, const Values& values) {
  std::array<std::int64_t, 3> extent = {1, 1, 1};
  if (choices.empty()) return extent;
  const Extent3& chosen = choices[std::min(choice, choices.size() - 1)];
  for (std::size_t i = 0; i < extent.size(); ++i) {
    if (!chosen[i].empty()) extent[i] = chosen[i].size(values, 1);
  }
  return extent;
}

void add_extent(const std::string& name, const std::array<std::int64_t, 3>& extent, Values& values) {
  values[name] = static_cast<double>(extent[0]);
  values[name + "_y"] = static_cast<double>(extent[1]);
  values[name + "_z"] = static_cast<double>(extent[2]);
}

BoundStep bind_step(const StepSpec& step, const Configuration& configuration, const std::vector<NamedBuffer>& buffers,
                    Values values) {
  BoundStep bound;
  const LaunchSpec& launch = step.launch;
  bound.block = bind_extent(launch.block, configuration.block, values);
  add_extent("block", bound.block, values);
  bound.grid = bind_extent(launch.grid, configuration.grid, values);
  add_extent("grid", bound.grid, values);
  bound.cluster = bind_extent(launch.cluster, configuration.cluster, values);
  if (!launch.shared.empty()) {
    bound.shared_bytes = launch.shared[std::min(configuration.shared, launch.shared.size() - 1)].size(values);
  }
  values["shared"] = static_cast<double>(bound.shared_bytes);
  bound.cooperative = launch.cooperative;
  for (const ArgumentSpec& argument : step.arguments) {
    bound.arguments.push_back(bind_argument(argument, buffers, values));
  }
  return bound;
}

/// The value of `threads` that the configuration chooses; empty where a step has none.
std::string threads_text(const StepSpec& step, const Configuration& configuration) {
  const std::vector<std::string>& choices = step.launch.threads;
  return choices.empty() ? "" : choices[std::min(configuration.threads, choices.size() - 1)];
}

/// What nvcc and NVRTC call it: with the instructions that only this chip has.
std::string cuda_architecture(const std::string& isa) {
  const bool has_its_own = isa == "sm_90" || isa.starts_with("sm_1");
  return has_its_own ? isa + "a" : isa;
}

}  // namespace

StepCall call_of(const StepSpec& step, const Configuration& configuration) {
  const std::string text = threads_text(step, configuration);
  if (text == kOwnThreads) return StepCall::own_threads;
  return text.empty() || text == "1" ? StepCall::once : StepCall::in_pool;
}

int threads_of(const KernelSpec& spec, const Configuration& configuration) {
  const auto pooled = std::find_if(spec.steps.begin(), spec.steps.end(), [&](const StepSpec& step) {
    return call_of(step, configuration) == StepCall::in_pool;
  });
  if (pooled == spec.steps.end()) return 1;
  const std::string text = threads_text(*pooled, configuration);
  if (text == kAllThreads) return 0;
  int count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

Values values_of(const Configuration& configuration, const Workload& workload) {
  Values values;
  for (const auto& [name, extent] : workload.shape.extents()) values[name] = static_cast<double>(extent);
  add_defines(configuration, values);
  return values;
}

std::vector<TensorSpec> tensors_of(const KernelSpec& spec, const Workload& workload) {
  const Values values = values_of({}, workload);
  std::vector<TensorSpec> tensors;
  for (const BufferSpec& buffer : spec.buffers) {
    if (buffer.workspace) continue;
    const std::int64_t elements = buffer.size.size(values, 1);
    if (elements > kLargestSize / element_size(buffer.dtype)) {
      buffer.size.place().fail(fmt::format("'{}' is beyond any machine: {} elements", buffer.name, elements));
    }
    tensors.push_back({buffer.name, buffer.role, elements, buffer.dtype});
  }
  return tensors;
}

BoundKernel bind_kernel(const KernelSpec& spec, const Configuration& configuration, const Workload& workload,
                        const std::vector<TensorSpec>& tensors, CallingThread thread) {
  Values values = values_of(configuration, workload);
  for (const std::string& extent : spec.extents)
    values.try_emplace(extent, 0);  // options that are 0 are left out of shapes
  values["thread"] = thread.index;
  values["threads"] = thread.count;
  const std::vector<NamedBuffer> buffers = buffers_of(spec, values, tensors);
  BoundKernel bound;
  bound.tensors = tensors.size();
  bound.scratch_bytes = spec.scratch_bytes;
  for (std::size_t b = tensors.size(); b < buffers.size(); ++b) {
    bound.workspace_bytes.push_back(buffers[b].elements * element_size(buffers[b].dtype));
  }
  for (const StepSpec& step : spec.steps) {
    bound.steps.push_back(bind_step(step, configuration, buffers, values));
    bound.steps.back().entry = with_defines(step.entry, configuration);
  }
  return bound;
}

CompileRequest compile_request(const KernelSpec& spec, const Configuration& configuration,
                               const std::string& architecture) {
  CompileRequest request{.source = spec.source,
                         .name = spec.source_name,
                         .kind = spec.kind,
                         .compiler = spec.compiler,
                         .architecture = {},
                         .options = spec.options,
                         .include = spec.include,
                         .defines = configuration.defines,
                         .entries = {},
                         .prologue = {},
                         .epilogue = {},
                         .limit_s = 5 * spec.time_limit_s};
  if (spec.device() == DeviceKind::cpu) {
    request.prologue = spec.prologue;
    request.without_failed_forwards = spec.without_failed_forwards;
    request.epilogue = call_source(spec, configuration);
    if (!environment_variable(kIsaVariable).empty()) request.architecture = architecture;
    return request;
  }
  request.architecture = cuda_architecture(architecture);
  for (const StepSpec& step : spec.steps) request.entries.push_back(with_defines(step.entry, configuration));
  return request;
}

}  // namespace roofline
