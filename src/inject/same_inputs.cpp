#include "inject/same_inputs.hpp"

namespace roofline::inject {

Source source_of(std::string_view symbol) {
  // PyTorch's direct_copy_kernel_cuda, bfloat16_copy_kernel_cuda and the like have destination and source in one array.
  if (symbol.find("copy_kernel_cuda") != std::string_view::npos) return Source::last_pointer;
  // Kernels of torch.compile: triton_poi_fused__to_copy_0(in_ptr0, out_ptr0, …).
  if (symbol.find("_to_copy") != std::string_view::npos) return Source::first_pointer;
  return Source::none;
}

void SameInputs::use(std::uint64_t address) {
  Slot& of = slot(address);
  if (of.address.load(std::memory_order_relaxed) == address) of.kernel.store(0, std::memory_order_relaxed);
}

bool SameInputs::convert(std::uint64_t address, std::uint64_t kernel) {
  Slot& of = slot(address);
  const std::uint64_t epoch = epoch_.load(std::memory_order_relaxed);
  const bool same = of.address.load(std::memory_order_relaxed) == address &&
                    of.kernel.load(std::memory_order_relaxed) == kernel &&
                    of.epoch.load(std::memory_order_relaxed) == epoch;
  of.address.store(address, std::memory_order_relaxed);
  of.kernel.store(kernel, std::memory_order_relaxed);
  of.epoch.store(epoch, std::memory_order_relaxed);
  return same;
}

bool SameInputs::run(const NodeMemory& node) {
  for (const std::uint64_t address : node.used) use(address);
  return node.source != 0 && convert(node.source, node.kernel);
}

}  // namespace roofline::inject
