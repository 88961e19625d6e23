// Loading happens in the child that measures: what crashes there costs its row.
#include "user/user_implementation.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "device/cpu/cpu_device.hpp"
#include "device/device.hpp"
#include "model/error.hpp"
#include "user/binding.hpp"
#include "user/compile.hpp"
#include "user/cuda_kernel.hpp"
#include "user/input_values.hpp"

namespace roofline {
namespace {

using Call = const char* (*)(void* function, void** arguments);

/// One step as one thread calls it: its arguments, and where in them the buffers' addresses go.
class CpuStep {
 public:
  CpuStep(const BoundStep& step, Call call, void* function) : call_(call), function_(function) {
    for (const BoundArgument& argument : step.arguments) {
      if (const auto* pointer = std::get_if<BoundPointer>(&argument)) {
        pointers_.push_back({addresses_.size(), *pointer});
        addresses_.push_back(nullptr);
        is_pointer_.push_back(true);
      } else {
        values_.push_back(std::get<BoundBytes>(argument));
        is_pointer_.push_back(false);
      }
    }
  }

  /// Once it has its place in memory.
  void arm() {
    auto value = values_.begin();
    auto address = addresses_.begin();
    arguments_.clear();
    for (const bool pointer : is_pointer_) {
      arguments_.push_back(pointer ? static_cast<void*>(&*address++) : static_cast<void*>((value++)->data()));
    }
  }

  void run(std::span<void* const> tensors, const std::vector<void*>& workspaces) {
    for (const auto& [slot, pointer] : pointers_) {
      void* const base =
          pointer.buffer < tensors.size() ? tensors[pointer.buffer] : workspaces[pointer.buffer - tensors.size()];
      addresses_[slot] = static_cast<std::byte*>(base) + pointer.offset_bytes;
    }
    if (const char* thrown = call_(function_, arguments_.data()))
      throw Error(fmt::format("the kernel threw: {}", thrown));
  }

 private:
  Call call_;
  void* function_;
  std::vector<std::pair<std::size_t, BoundPointer>> pointers_;
  std::vector<void*> addresses_;
  std::vector<BoundBytes> values_;
  std::vector<bool> is_pointer_;
  std::vector<void*> arguments_;
};

/// Stays loaded until the process ends: a library's threads may outlive its last launch.
void* open_library(const std::filesystem::path& path) {
  // A bare name would be looked for among the system's libraries.
  void* const library = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw Error(fmt::format("{} can't be loaded: {}", path.string(), dlerror()));
  return library;
}

void* find_function(void* library, const std::string& name, const std::filesystem::path& path) {
  void* const function = dlsym(library, name.c_str());
  if (function == nullptr) {
    throw Error(fmt::format("{} has no function '{}'", path.string(), name),
                "nm -D --defined-only lists its symbols; C++ functions need extern \"C\"");
  }
  return function;
}

struct CpuKernel {
  std::vector<std::vector<CpuStep>> threads;  ///< [thread][step]
  std::vector<StepCall> calls;                ///< by step
  std::vector<std::unique_ptr<Buffer>> memory;
  std::vector<void*> workspaces;
};

Kernel load_cpu_kernel(const KernelSpec& spec, const Configuration& configuration, const Workload& workload,
                       Device& device) {
  const CompileRequest request = compile_request(spec, configuration, device.info().isa);
  const int wanted = threads_of(spec, configuration);
  const bool starts_threads = std::any_of(spec.steps.begin(), spec.steps.end(), [&](const StepSpec& step) {
    return call_of(step, configuration) == StepCall::own_threads;
  });
  ThreadPool* const pool = wanted != 1 || starts_threads ? &as_cpu(device).pool() : nullptr;
  const int count = wanted == 1 ? 1 : wanted == 0 ? pool->size() : std::min(wanted, pool->size());
  const std::filesystem::path wrapper_path = compiled(request);
  // OpenMP's runtime counts the CPUs that it may use when it is loaded.
  std::optional<ThreadPool::PinnedCaller> while_loading;
  if (starts_threads) {
    while_loading.emplace(*pool);
    pool->open_caller();
  }
  void* const wrapper = open_library(wrapper_path);
  void* const library = spec.kind == SourceKind::shared_library ? open_library(spec.source) : nullptr;
  while_loading.reset();
  const std::vector<TensorSpec> tensors = kernel_tensors(spec, workload);
  const auto kernel = std::make_shared<CpuKernel>();
  for (int thread = 0; thread < count; ++thread) {
    const BoundKernel bound = bind_kernel(spec, configuration, workload, tensors, {thread, count});
    auto& steps = kernel->threads.emplace_back();
    for (std::size_t i = 0; i < bound.steps.size(); ++i) {
      const auto call = reinterpret_cast<Call>(dlsym(wrapper, fmt::format("roofline_call_{}", i).c_str()));
      if (call == nullptr) throw Error(fmt::format("{} was not compiled as a kernel", spec.source.string()));
      steps.emplace_back(bound.steps[i], call,
                         library != nullptr ? find_function(library, bound.steps[i].entry, spec.source) : nullptr);
    }
    if (thread > 0) continue;
    for (const std::int64_t bytes : bound.workspace_bytes) {
      kernel->memory.push_back(device.allocate(static_cast<std::size_t>(bytes)));
      kernel->workspaces.push_back(kernel->memory.back()->data());
    }
  }
  for (auto& steps : kernel->threads) {
    for (CpuStep& step : steps) step.arm();
  }
  for (const StepSpec& step : spec.steps) {
    const StepCall call = call_of(step, configuration);
    kernel->calls.push_back(call == StepCall::in_pool && count == 1 ? StepCall::once : call);
  }
  if (std::all_of(kernel->calls.begin(), kernel->calls.end(), [](StepCall call) { return call == StepCall::once; })) {
    return [kernel](std::span<void* const> at) {
      for (CpuStep& step : kernel->threads[0]) step.run(at, kernel->workspaces);
    };
  }
  // Steps follow each other: each is a region of its own.
  return [kernel, pool, count](std::span<void* const> at) {
    for (std::size_t i = 0; i < kernel->calls.size(); ++i) {
      if (kernel->calls[i] == StepCall::in_pool) {
        pool->run([&](int worker) {
          if (worker < count) kernel->threads[static_cast<std::size_t>(worker)][i].run(at, kernel->workspaces);
        });
        continue;
      }
      if (kernel->calls[i] == StepCall::own_threads) pool->open_caller();
      kernel->threads[0][i].run(at, kernel->workspaces);
    }
  };
}

Kernel prepare_cuda(const KernelSpec& spec, const Configuration& configuration, const Workload& workload,
                    Device& device) {
  const CompileRequest request = compile_request(spec, configuration, device.info().isa);
  const std::filesystem::path code = compiled(request);
  return load_cuda_kernel(bind_kernel(spec, configuration, workload, kernel_tensors(spec, workload)), code,
                          entry_names(request, code), device);
}

std::string name_of(const KernelSpec& spec, const Configuration& configuration) {
  if (spec.like == nullptr) return configuration.text.empty() ? spec.source.filename().string() : configuration.text;
  return configuration.text.empty() ? spec.name : spec.name + " " + configuration.text;
}

std::optional<Configuration> configuration_of(const KernelSpec& spec, std::string_view implementation) {
  for (const Configuration& configuration : configurations(spec)) {
    if (name_of(spec, configuration) == implementation) return configuration;
  }
  return std::nullopt;
}

std::vector<DType> dtypes_of(const KernelSpec& spec) {
  if (spec.like != nullptr) return spec.dtypes;
  std::vector<DType> all;
  for (const std::string_view name : dtype_names()) all.push_back(*parse_dtype(name));
  return all;
}

/// Throws UsageError for an expected value that the sizes of the tensors make meaningless.
void check_expectation(const KernelSpec& spec, const Workload& workload, const std::vector<TensorSpec>& tensors) {
  std::map<std::string, ElementFormula::Tensor> sizes;
  for (const TensorSpec& tensor : tensors) {
    if (is_read(tensor.role)) sizes[tensor.name] = {tensor.elements, [](std::int64_t) { return 0.0; }};
  }
  for (const TensorSpec& tensor : tensors) {
    const auto formula = spec.expect.formulas.find(tensor.name);
    if (formula == spec.expect.formulas.end()) continue;
    const ElementFormula checked(formula->second, values_of({}, workload), sizes, tensor.elements);
  }
}

}  // namespace

std::vector<TensorSpec> kernel_tensors(const KernelSpec& spec, const Workload& workload) {
  return spec.like != nullptr ? spec.like->tensors(workload) : tensors_of(spec, workload);
}

std::vector<Implementation> user_implementations(const std::shared_ptr<const KernelSpec>& spec) {
  std::vector<Implementation> implementations;
  for (const Configuration& configuration : configurations(*spec)) {
    Implementation implementation{.name = name_of(*spec, configuration),
                                  .summary = spec->source.filename().string(),
                                  .device = spec->device(),
                                  .dtypes = dtypes_of(*spec),
                                  .unsupported = {},
                                  .extra_traffic = {},
                                  .prepare = {}};
    if (spec->device() == DeviceKind::cpu) {
      const auto steps_with = [&](StepCall call) {
        return std::count_if(spec->steps.begin(), spec->steps.end(),
                             [&](const StepSpec& step) { return call_of(step, configuration) == call; });
      };
      // Own threads may be all of the run's.
      implementation.threads = steps_with(StepCall::own_threads) > 0 ? 0 : threads_of(*spec, configuration);
      implementation.regions = static_cast<int>(steps_with(StepCall::in_pool));
      implementation.prepare = [spec, configuration](const Workload& workload, Device& device) {
        return load_cpu_kernel(*spec, configuration, workload, device);
      };
    } else {
      implementation.unsupported = [spec, configuration](const Workload& workload, const Device& device) {
        return cuda_refusal(bind_kernel(*spec, configuration, workload, kernel_tensors(*spec, workload)), device);
      };
      implementation.prepare = [spec, configuration](const Workload& workload, Device& device) {
        return prepare_cuda(*spec, configuration, workload, device);
      };
    }
    implementations.push_back(std::move(implementation));
  }
  return implementations;
}

std::string vectorizer_remarks(const KernelSpec& spec, std::string_view implementation,
                               const std::string& architecture) {
  const std::optional<Configuration> configuration = configuration_of(spec, implementation);
  return configuration ? vectorizer_remarks(compile_request(spec, *configuration, architecture)) : std::string();
}

std::filesystem::path compiled_for(const KernelSpec& spec, std::string_view implementation, const std::string& isa) {
  const std::optional<Configuration> configuration = configuration_of(spec, implementation);
  if (!configuration) throw Error(fmt::format("'{}' has no implementation '{}'", spec.name, implementation));
  CompileRequest request = compile_request(spec, *configuration, isa);
  request.architecture = isa;
  return compiled(request);
}

void check_bindings(const KernelSpec& spec, const Workload& workload) {
  const std::vector<TensorSpec> tensors = kernel_tensors(spec, workload);
  for (const Configuration& configuration : configurations(spec)) bind_kernel(spec, configuration, workload, tensors);
  if (spec.like != nullptr) return;
  check_expectation(spec, workload, tensors);
  check_input_values(spec, workload, tensors);
}

}  // namespace roofline
