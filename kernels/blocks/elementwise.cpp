// Common to elementwise ops except their formula: tensors, work and the reference loop.
#include "kernels/blocks/elementwise.hpp"

#include "op/rows.hpp"

namespace roofline {
namespace {

void read_elements(const HostTensor& tensor, std::span<const std::int64_t> indices, std::span<double> out) {
  if (indices.back() - indices.front() + 1 == std::ssize(indices)) {
    tensor.read(indices.front(), out);
  } else {
    for (std::size_t i = 0; i < indices.size(); ++i) out[i] = tensor[indices[i]];
  }
}

}  // namespace

std::vector<TensorSpec> Elementwise::tensors(const Workload& w) const {
  const std::int64_t n = w.shape["n"];
  std::vector<TensorSpec> specs;
  for (const std::string& input : inputs_) specs.push_back({input, TensorRole::input, n, w.dtype});
  specs.push_back({output_, TensorRole::output, n, w.dtype});
  return specs;
}

Work Elementwise::work(const Workload& w, DeviceKind device) const {
  const auto n = static_cast<double>(w.shape["n"]);
  const double bytes = n * static_cast<double>(element_size(w.dtype));
  Work work;
  for (const auto& [pipe, each] : flops(w.dtype, device)) work.flops[pipe] = each * n;
  work.bytes[main_memory(device)] = {.read = static_cast<double>(inputs_.size()) * bytes, .write = bytes};
  return work;
}

void Elementwise::reference(const Workload&, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                            std::span<double> expected) const {
  std::vector<std::vector<double>> values(inputs.size());
  for_each_row(indices, expected, kRun, [&](std::int64_t, auto run, auto out) {
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      values[k].resize(run.size());
      read_elements(inputs[k], run, values[k]);
    }
    evaluate(values, out);
  });
}

}  // namespace roofline
