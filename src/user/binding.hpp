// A kernel for one workload in one configuration: every formula a number. Knows no device.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "op/op.hpp"
#include "user/compile.hpp"
#include "user/kernel_spec.hpp"

namespace roofline {

/// The address of a byte of a buffer; buffers are the tensors in their order, then the workspaces.
struct BoundPointer {
  std::size_t buffer = 0;
  std::int64_t offset_bytes = 0;
};

struct BoundTensorMap {
  std::size_t buffer = 0;
  DType dtype = DType::fp32;
  std::int64_t rows = 0, columns = 0;
  int box_rows = 0, box_columns = 0;
  bool swizzle_128 = false;
};

/// What is passed by value, as it lies in memory.
using BoundBytes = std::vector<std::byte>;
using BoundArgument = std::variant<BoundPointer, BoundBytes, BoundTensorMap>;

struct BoundStep {
  std::string entry;
  std::vector<BoundArgument> arguments;
  std::array<std::int64_t, 3> grid = {1, 1, 1}, block = {1, 1, 1}, cluster = {1, 1, 1};
  std::int64_t shared_bytes = 0;
  bool cooperative = false;
};

struct BoundKernel {
  std::vector<BoundStep> steps;
  std::vector<std::int64_t> workspace_bytes;
  std::vector<std::int64_t> scratch_bytes;  ///< KernelSpec::scratch_bytes
  std::size_t tensors = 0;
};

/// Which of a CPU's threads calls, and how many there are.
struct CallingThread {
  int index = 0;
  int count = 1;
};

/// How a step of a CPU's kernel is called.
enum class StepCall : std::uint8_t {
  once,        ///< by one thread
  in_pool,     ///< by each of threads_of() threads, in a parallel region of the device's pool
  own_threads  ///< by one thread; the kernel starts its other threads itself
};
StepCall call_of(const StepSpec& step, const Configuration& configuration);

/// The threads of the pool that a configuration asks for: 0 for all.
int threads_of(const KernelSpec& spec, const Configuration& configuration);

/// Names and their values: extents of the shape, and numeric defines.
Values values_of(const Configuration& configuration, const Workload& workload);

/// The tensors of a kernel that is like no op. Throws UsageError for sizes that are none.
std::vector<TensorSpec> tensors_of(const KernelSpec& spec, const Workload& workload);

/// Throws UsageError, at its place, for whatever is no number, no size, or outside a buffer.
BoundKernel bind_kernel(const KernelSpec& spec, const Configuration& configuration, const Workload& workload,
                        const std::vector<TensorSpec>& tensors, CallingThread thread = {});

/// What has to be compiled for a configuration, for a device of that architecture (DeviceInfo::isa).
CompileRequest compile_request(const KernelSpec& spec, const Configuration& configuration,
                               const std::string& architecture);

}  // namespace roofline
