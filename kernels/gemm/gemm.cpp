// GEMM: C = A · B, row-major. Work model, reference and CPU implementations; the CUDA ones are listed in gemm.cu.
// Tensor cores take 8-bit operands only along k, so for fp8 and int8 B is stored as its transpose, n rows of k.
// Their products are accumulated, and C is stored, in a wider type: fp8 in fp32, stored as bf16; int8 in int32,
// exactly.
//   naive   all threads, one row of C at a time as a sum of rows of B: every row of C reads all of B
//   eigen   one block of C per thread, nearly square, by Eigen's packed and register-blocked product
//   packed  all threads on one packed block of B (blocks/cpu/packed_product.hpp)
//   dots    bf16 and int8 without widening, on CPUs with dot products of them
//   amx     16- and 8-bit types on AMX tiles (gemm_amx.cpp)
#include "kernels/gemm/gemm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "kernels/blocks/cpu/cpu_launch.hpp"
#include "kernels/blocks/cpu/packed_product.hpp"
#include "op/registry.hpp"
#include "op/rows.hpp"
#include "op/sampling.hpp"
#include "op/tolerance.hpp"

namespace roofline {

GemmExtents gemm_extents(const Workload& w) { return {w.shape["m"], w.shape["n"], w.shape["k"]}; }

namespace {

bool is_transposed_b(DType dtype) { return dtype == DType::fp8 || dtype == DType::int8; }

DType result_type(DType dtype) {
  if (dtype == DType::int8) return DType::int32;
  return dtype == DType::fp8 ? DType::bf16 : dtype;
}

class Gemm final : public Op {
 public:
  std::string_view name() const override { return "gemm"; }
  std::string_view summary() const override {
    return "C = A B, with A m x k, B k x n, C m x n, row-major; in 8 bits B is stored as n x k";
  }
  std::string_view family() const override { return "matrix product"; }

  std::vector<ShapeParameter> parameters() const override {
    return {{.name = "m", .meaning = "rows of A and C", .default_value = 4096},
            {.name = "n", .meaning = "columns of B and C", .default_value = 4096},
            {.name = "k", .meaning = "columns of A, rows of B", .default_value = 4096}};
  }

  std::vector<TensorSpec> tensors(const Workload& w) const override {
    const auto [m, n, k] = gemm_extents(w);
    return {{"A", TensorRole::input, m * k, w.dtype},
            {"B", TensorRole::input, k * n, w.dtype},
            {"C", TensorRole::output, m * n, result_type(w.dtype)}};
  }

  Work work(const Workload& w, DeviceKind device) const override {
    const auto m = static_cast<double>(w.shape["m"]);
    const auto n = static_cast<double>(w.shape["n"]);
    const auto k = static_cast<double>(w.shape["k"]);
    const auto size = static_cast<double>(element_size(w.dtype));
    Work work;
    work.flops[matrix_pipe(w.dtype, device)] = 2 * m * n * k;
    work.bytes[main_memory(device)] = {.read = (m * k + k * n) * size,
                                       .write = m * n * static_cast<double>(element_size(result_type(w.dtype)))};
    return work;
  }

  void reference(const Workload& w, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                 std::span<double> expected) const override;

  double reference_cost(const Workload& w) const override { return 2 * static_cast<double>(w.shape["k"]); }
  std::int64_t reference_run(const Workload& w) const override { return w.shape["n"]; }
  std::vector<std::int64_t> edges(const Workload& w) const override { return matrix_edges(w.shape["m"], w.shape["n"]); }

  Tolerance tolerance(const Workload& w) const override;
  std::vector<Implementation> implementations() const override;
  std::vector<Shape> test_shapes(DeviceKind device) const override;
};

/// A row of C against columns of B that are rows in memory.
void dot_rows(const HostTensor& transposed_b, std::span<const double> row, std::span<const std::int64_t> columns,
              std::span<double> out) {
  std::vector<double> column(row.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    transposed_b.read(columns[i] * static_cast<std::int64_t>(row.size()), column);
    out[i] = std::inner_product(row.begin(), row.end(), column.begin(), 0.0);
  }
}

/// The requested elements of one row of C are grouped into segments dense enough to read B's rows once; a segment
/// costs depth × its length.
void Gemm::reference(const Workload& w, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                     std::span<double> expected) const {
  const auto [m, n, k] = gemm_extents(w);
  std::vector<double> row(static_cast<std::size_t>(k));
  std::vector<double> segment;
  for_each_row(indices, expected, n, [&, n = n, k = k](std::int64_t i, auto wanted, auto out) {
    inputs[0].read(i * k, row);
    if (is_transposed_b(w.dtype)) {
      std::vector<std::int64_t> columns(wanted.begin(), wanted.end());
      for (std::int64_t& column : columns) column -= i * n;
      return dot_rows(inputs[1], row, columns, out);
    }
    for (std::size_t first = 0; first < wanted.size();) {
      std::size_t last = first + 1;
      while (last < wanted.size() && wanted[last] - wanted[last - 1] == 1) ++last;
      const auto sums = out.subspan(first, last - first);
      segment.resize(sums.size());
      std::fill(sums.begin(), sums.end(), 0.0);
      for (std::int64_t p = 0; p < k; ++p) {
        inputs[1].read(p * n + wanted[first] - i * n, segment);
        const double scale = row[static_cast<std::size_t>(p)];
        for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += scale * segment[j];
      }
      first = last;
    }
  });
}

/// Products of uniform elements in [-1, 1] have variance 1/9, so elements of C have magnitude sqrt(k) / 3, after
/// sqrt(k) effective roundings. Operands that are rounded or truncated to tf32 have their own error: truncation
/// shrinks each product by up to 2^-10 (2 u per operand, half of that on average: 2 u of the result), and its
/// variance adds 5.7 standard deviations of u each. fp8 tensor cores align addends to the largest term, keep 13
/// bits after its leading one, and truncate the rest: each of the k / 32 instructions of a sum can shrink it by
/// that much. Sums of int8 are exact.
Tolerance Gemm::tolerance(const Workload& w) const {
  const auto k = static_cast<double>(w.shape["k"]);
  if (w.dtype == DType::int8) return {.relative = 0, .magnitude = 127.0 * 127.0 * std::sqrt(k) / 3};
  Tolerance tolerance = storage_tolerance(result_type(w.dtype), std::sqrt(k) / 3, 4 + std::sqrt(k));
  if (w.dtype == DType::tf32) tolerance.relative += 8 * operand_roundoff(w.dtype);
  if (w.dtype == DType::fp8) tolerance.relative += 0x1p-13 * std::ceil(k / 32);
  return tolerance;
}

/// Blocks begin at multiples of this, a multiple of every register block: 6, 12, 16 and 24 elements.
constexpr std::int64_t kGrain = 48;

template <typename T>
void naive_row(const T* a, const T* b, T* c, std::int64_t n, std::int64_t k) {
  std::fill_n(c, n, T{0});
  for (std::int64_t p = 0; p < k; ++p) {
    for (std::int64_t j = 0; j < n; ++j) c[j] += a[p] * b[p * n + j];
  }
}

/// int8: B is stored by columns, so an element of C is a dot product.
void naive_int8_row(const std::int8_t* a, const std::int8_t* b, std::int32_t* c, std::int64_t n, std::int64_t k) {
  for (std::int64_t j = 0; j < n; ++j) {
    std::int32_t sum = 0;
    for (std::int64_t p = 0; p < k; ++p) sum += a[p] * b[j * k + p];
    c[j] = sum;
  }
}

Kernel prepare_naive_gemm(const Workload& w, Device& device) {
  auto& pool = as_cpu(device).pool();
  const auto by_rows =
      [&]<typename T, typename Sum>(void (*row)(const T*, const T*, Sum*, std::int64_t, std::int64_t)) {
        return [&pool, row, e = gemm_extents(w)](std::span<void* const> tensors) {
          pool.for_range(e.m, 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
              row(elements<const T>(tensors, 0) + i * e.k, elements<const T>(tensors, 1),
                  elements<Sum>(tensors, 2) + i * e.n, e.n, e.k);
            }
          });
        };
      };
  if (w.dtype == DType::int8) return by_rows(naive_int8_row);
  return with_cpu_type(w.dtype, [&]<typename T>() -> Kernel { return by_rows(naive_row<T>); });
}

Kernel prepare_eigen(const Workload& w, CpuDevice& cpu) {
  return with_cpu_type(w.dtype, [&]<typename T>() -> Kernel {
    const auto block = with_isa(cpu.isa(), []<Isa isa>() { return &gemm_block<isa, T>; });
    const GemmExtents e = gemm_extents(w);
    const BlockGrid grid = block_grid(e.m, e.n, cpu.pool().size());
    return [&pool = cpu.pool(), block, e, grid](std::span<void* const> tensors) {
      pool.run([&](int worker) {
        const auto [top, bottom] = static_partition(e.m, kGrain, worker / grid.across, grid.down);
        const auto [left, right] = static_partition(e.n, kGrain, worker % grid.across, grid.across);
        if (top == bottom || left == right) return;
        block(elements<T>(tensors, 0) + top * e.k, e.k, elements<T>(tensors, 1) + left, e.n,
              elements<T>(tensors, 2) + top * e.n + left, e.n, bottom - top, right - left, e.k);
      });
    };
  });
}

template <typename T, typename Factor>
Kernel packed_product(const Workload& w, Device& device) {
  using Product = PackedProduct<T, Factor>;
  const GemmExtents e = gemm_extents(w);
  return [product = Product(as_cpu(device), {e.m, e.n, e.k})](std::span<void* const> tensors) {
    product.run(elements<const T>(tensors, 0), elements<const T>(tensors, 1),
                elements<typename Product::Result>(tensors, 2));
  };
}

Kernel prepare_packed(const Workload& w, Device& device) {
  if (w.dtype == DType::int8) return packed_product<std::int8_t, Int16Pair>(w, device);
  return with_element_type(w.dtype, [&]<typename T>() { return packed_product<T, Computed<T>>(w, device); });
}

Kernel prepare_dots(const Workload& w, Device& device) {
  if (w.dtype == DType::int8) return packed_product<std::int8_t, Int8Quad>(w, device);
  return packed_product<Bf16, Bf16Pair>(w, device);
}

std::vector<Implementation> Gemm::implementations() const {
  std::vector<DType> with_int8 = cpu_dtypes();
  with_int8.push_back(DType::int8);
  const auto sums = [](const Workload& w) {
    return sums_traffic(w.dtype, static_cast<double>(w.shape["m"]) * static_cast<double>(w.shape["n"]));
  };
  return {{.name = "naive",
           .summary = "all threads; rows of C accumulated from rows of B",
           .dtypes = with_int8,
           .extra_traffic = [this](const Workload& w) { return fp32_copies(*this, w); },
           .prepare = [this](const Workload& w,
                             Device& device) { return through_fp32(*this, w, device, prepare_naive_gemm); }},
          {.name = "eigen",
           .summary = "all threads, one block of C each, packed and register-blocked",
           .dtypes = {DType::fp32, DType::fp64},
           .prepare = [](const Workload& w, Device& device) { return prepare_eigen(w, as_cpu(device)); }},
          {.name = "packed",
           .summary = "all threads, operands packed per cache level, register tiles; fp16 and bf16 widened to fp32, "
                      "int8 to int16 pairs",
           .dtypes = with_int8,
           .extra_traffic = sums,
           .prepare = prepare_packed},
          {.name = "dots",
           .summary = "as packed, with dot products: pairs of bf16, fours of int8",
           .dtypes = {DType::bf16, DType::int8},
           .unsupported = dots_missing,
           .extra_traffic = sums,
           .prepare = prepare_dots}};
}

std::vector<Shape> Gemm::test_shapes(DeviceKind device) const {
  if (device == DeviceKind::cpu) {
    return {{{"m", 1}, {"n", 1}, {"k", 1}},
            {{"m", 3}, {"n", 130}, {"k", 7}},
            {{"m", 35}, {"n", 530}, {"k", 1030}},
            {{"m", 131}, {"n", 67}, {"k", 259}}};
  }
  return {{{"m", 1}, {"n", 1}, {"k", 1}},         {{"m", 33}, {"n", 65}, {"k", 17}},
          {{"m", 128}, {"n", 128}, {"k", 16}},    {{"m", 129}, {"n", 136}, {"k", 40}},
          {{"m", 257}, {"n", 255}, {"k", 129}},   {{"m", 512}, {"n", 384}, {"k", 256}},
          {{"m", 1}, {"n", 512}, {"k", 4099}},    {{"m", 3}, {"n", 264}, {"k", 1000}},
          {{"m", 8}, {"n", 4096}, {"k", 512}},    {{"m", 5}, {"n", 1000}, {"k", 8}},
          {{"m", 1001}, {"n", 1}, {"k", 1000}},   {{"m", 130}, {"n", 8}, {"k", 136}},
          {{"m", 77}, {"n", 5}, {"k", 520}},      {{"m", 13}, {"n", 264}, {"k", 1001}},
          {{"m", 16}, {"n", 8200}, {"k", 1040}},  {{"m", 1003}, {"n", 11}, {"k", 1304}},
          {{"m", 3000}, {"n", 16}, {"k", 2056}},  {{"m", 20}, {"n", 7}, {"k", 16384}},
          {{"m", 300}, {"n", 1008}, {"k", 2064}}, {{"m", 2049}, {"n", 2064}, {"k", 528}}};
}

const OpRegistrar kRegistrar(std::make_unique<Gemm>());

}  // namespace

BlockGrid block_grid(std::int64_t m, std::int64_t n, int workers) {
  int best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (int rows = 1; rows <= workers; ++rows) {
    if (workers % rows != 0) continue;
    const int columns = workers / rows;
    const double border = static_cast<double>(m) / rows + static_cast<double>(n) / columns;
    if (border < least) {
      least = border;
      best = rows;
    }
  }
  return {best, workers / best};
}

}  // namespace roofline
