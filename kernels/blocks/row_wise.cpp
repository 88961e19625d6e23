// Common to row-wise ops except their formula: tensors, work, the reference loop, test shapes.
#include "kernels/blocks/row_wise.hpp"

#include "op/rows.hpp"
#include "op/sampling.hpp"

namespace roofline {

std::vector<TensorSpec> RowWise::tensors(const Workload& w) const {
  const std::int64_t columns = w.shape["cols"];
  const std::int64_t n = w.shape["rows"] * columns;
  std::vector<TensorSpec> specs{{"x", TensorRole::input, n, w.dtype}};
  for (const std::string& vector : vectors_) specs.push_back({vector, TensorRole::input, columns, w.dtype});
  specs.push_back({"y", TensorRole::output, n, w.dtype});
  return specs;
}

Work RowWise::work(const Workload& w, DeviceKind device) const {
  const auto columns = static_cast<double>(w.shape["cols"]);
  const double n = static_cast<double>(w.shape["rows"]) * columns;
  const auto size = static_cast<double>(element_size(w.dtype));
  Work work;
  for (const auto& [pipe, each] : flops(w.dtype, device)) work.flops[pipe] = each * n;
  work.bytes[main_memory(device)] = {.read = (n + static_cast<double>(vectors_.size()) * columns) * size,
                                     .write = n * size};
  return work;
}

std::vector<std::int64_t> RowWise::edges(const Workload& w) const {
  return matrix_edges(w.shape["rows"], w.shape["cols"]);
}

void RowWise::reference(const Workload& w, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                        std::span<double> expected) const {
  const std::int64_t columns = w.shape["cols"];
  const auto read = [&](const HostTensor& tensor, std::int64_t first, Eigen::ArrayXd& into) {
    into.resize(columns);
    tensor.read(first, {into.data(), static_cast<std::size_t>(columns)});
  };
  std::vector<Eigen::ArrayXd> vectors(vectors_.size());
  for (std::size_t i = 0; i < vectors.size(); ++i) read(inputs[i + 1], 0, vectors[i]);
  Eigen::ArrayXd row;
  for_each_row(indices, expected, columns, [&](std::int64_t r, auto wanted, auto out) {
    read(inputs[0], r * columns, row);
    evaluate(row, vectors);
    for (std::size_t i = 0; i < wanted.size(); ++i) out[i] = row[wanted[i] - r * columns];
  });
}

std::vector<Shape> RowWise::test_shapes(DeviceKind device) const {
  if (device == DeviceKind::cpu) {
    return {{{"rows", 1}, {"cols", 1}},
            {{"rows", 3}, {"cols", 7}},
            {{"rows", 37}, {"cols", 1031}},
            {{"rows", 5}, {"cols", 1104}}};
  }
  // One row length per code path: within a warp, several warps per block, one block, a cluster, too long for registers;
  // multiples of 16 bytes and others, with and without idle threads.
  return {
      {{"rows", 1}, {"cols", 2}},      {{"rows", 3}, {"cols", 129}},    {{"rows", 37}, {"cols", 64}},
      {{"rows", 5}, {"cols", 256}},    {{"rows", 6}, {"cols", 512}},    {{"rows", 19}, {"cols", 1000}},
      {{"rows", 33}, {"cols", 1024}},  {{"rows", 7}, {"cols", 2047}},   {{"rows", 7}, {"cols", 2048}},
      {{"rows", 9}, {"cols", 4096}},   {{"rows", 4}, {"cols", 4099}},   {{"rows", 3}, {"cols", 8192}},
      {{"rows", 5}, {"cols", 10000}},  {{"rows", 3}, {"cols", 16384}},  {{"rows", 3}, {"cols", 16381}},
      {{"rows", 3}, {"cols", 32768}},  {{"rows", 2}, {"cols", 50001}},  {{"rows", 2}, {"cols", 65536}},
      {{"rows", 2}, {"cols", 70000}},  {{"rows", 2}, {"cols", 131072}}, {{"rows", 2}, {"cols", 131073}},
      {{"rows", 1}, {"cols", 200000}},
  };
}

}  // namespace roofline
