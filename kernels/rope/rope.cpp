// Rotary position embedding: every head of every token is rotated by the angles of its position. Element i of a head
// and element i + head_dim / 2 are the coordinates of a point in a plane, as in Llama's implementation in Hugging
// Face (not neighbours, as in the paper). Work model, reference and CPU implementations; the CUDA ones are in
// rope.cu.
//   scalar      single thread, scalar loop per head
//   vectorized  all threads, vectors, non-temporal stores: memory sees one read and one write per element
#include "kernels/rope/rope.hpp"

#include <vector>

#include "kernels/blocks/cpu/cpu_launch.hpp"
#include "op/registry.hpp"
#include "op/rows.hpp"
#include "op/sampling.hpp"
#include "op/tolerance.hpp"

namespace roofline {
namespace {

/// Tokens are consecutive, [batch, seq, heads, head_dim], as projections write them.
std::int64_t tokens_of(const Workload& w) { return w.shape["batch"] * w.shape["seq"]; }

class Rope final : public Op {
 public:
  std::string_view name() const override { return "rope"; }
  std::string_view summary() const override {
    return "y = (a cos - b sin, b cos + a sin) for the halves a, b of each head, angles by position";
  }
  std::string_view family() const override { return "elementwise"; }

  std::vector<ShapeParameter> parameters() const override {
    return {{.name = "batch", .meaning = "sequences", .default_value = 1},
            {.name = "seq", .meaning = "positions per sequence", .default_value = 4096},
            {.name = "heads", .meaning = "heads per token", .default_value = 32, .maximum = 1 << 20},
            {.name = "head_dim",
             .meaning = "elements of a head (even)",
             .default_value = 128,
             .minimum = 2,
             .maximum = 1024}};
  }

  std::optional<std::string> invalid(const Shape& shape) const override {
    if (shape["head_dim"] % 2 == 0) return std::nullopt;
    return "head_dim must be even";
  }

  /// The tables are in fp32 for every storage type (fp64 for fp64): all heads of a token share their entries, so
  /// narrower ones would lose accuracy and save little.
  std::vector<TensorSpec> tensors(const Workload& w) const override {
    const std::int64_t n = tokens_of(w) * w.shape["heads"] * w.shape["head_dim"];
    const std::int64_t angles = w.shape["seq"] * w.shape["head_dim"] / 2;
    const DType table = w.dtype == DType::fp64 ? DType::fp64 : DType::fp32;
    return {{"x", TensorRole::input, n, w.dtype},
            {"cos", TensorRole::input, angles, table},
            {"sin", TensorRole::input, angles, table},
            {"y", TensorRole::output, n, w.dtype}};
  }

  /// 3 FLOPs per element: two products and their sum.
  Work work(const Workload& w, DeviceKind device) const override {
    const auto specs = tensors(w);
    Work work;
    work.flops[vector_pipe(w.dtype)] = 3 * static_cast<double>(specs.back().elements);
    Traffic& traffic = work.bytes[main_memory(device)];
    for (const TensorSpec& spec : specs) {
      (spec.role == TensorRole::input ? traffic.read : traffic.write) += static_cast<double>(spec.bytes());
    }
    return work;
  }

  void reference(const Workload& w, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                 std::span<double> expected) const override;

  double reference_cost(const Workload&) const override { return 8; }
  std::int64_t reference_run(const Workload& w) const override { return w.shape["head_dim"]; }
  std::vector<std::int64_t> edges(const Workload& w) const override {
    return matrix_edges(tokens_of(w) * w.shape["heads"], w.shape["head_dim"]);
  }

  /// Products of values in [-1, 1] have magnitude 1/3, the sum of two of them 1/2. Each is rounded: three
  /// roundings.
  Tolerance tolerance(const Workload& w) const override { return storage_tolerance(w.dtype, 0.5, 3); }

  std::vector<Implementation> implementations() const override;
  std::vector<Shape> test_shapes(DeviceKind device) const override;
};

void Rope::reference(const Workload& w, std::span<const HostTensor> inputs, std::span<const std::int64_t> indices,
                     std::span<double> expected) const {
  const std::int64_t width = w.shape["head_dim"];
  const std::int64_t half = width / 2;
  std::vector<double> head(static_cast<std::size_t>(width));
  std::vector<double> cos(static_cast<std::size_t>(half));
  std::vector<double> sin(static_cast<std::size_t>(half));
  for_each_row(indices, expected, width, [&](std::int64_t row, auto wanted, auto out) {
    const std::int64_t position = row / w.shape["heads"] % w.shape["seq"];
    inputs[0].read(row * width, head);
    inputs[1].read(position * half, cos);
    inputs[2].read(position * half, sin);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto at = static_cast<std::size_t>(wanted[i] - row * width);
      const std::size_t angle = at % cos.size();
      const bool lower = at < cos.size();
      const double across = head[lower ? at + cos.size() : angle];
      out[i] = head[at] * cos[angle] + (lower ? -across : across) * sin[angle];
    }
  });
}

/// Its tables are inputs of the launch.
template <typename T>
Rotation<T> rotation(const Workload& w) {
  return {.positions = w.shape["seq"], .heads = w.shape["heads"], .half = w.shape["head_dim"] / 2};
}

template <typename T>
Rotation<T> with_tables(Rotation<T> by, std::span<void* const> tensors) {
  by.cos = elements<const T>(tensors, 1);
  by.sin = elements<const T>(tensors, 2);
  return by;
}

template <typename T>
void rotate_plainly(const Rotation<Computed<T>>& by, const T* x, T* y, std::int64_t tokens) {
  for (std::int64_t head = 0; head < tokens * by.heads; ++head, x += 2 * by.half, y += 2 * by.half) {
    const std::int64_t entry = head / by.heads % by.positions * by.half;
    for (std::int64_t i = 0; i < by.half; ++i) {
      const Computed<T> c = by.cos[entry + i];
      const Computed<T> s = by.sin[entry + i];
      const Computed<T> lower = widened(x[i]);
      const Computed<T> upper = widened(x[by.half + i]);
      y[i] = narrowed<T>(lower * c - upper * s);
      y[by.half + i] = narrowed<T>(upper * c + lower * s);
    }
  }
}

Kernel prepare_scalar(const Workload& w, Device&) {
  return with_element_type(w.dtype, [&]<typename T>() -> Kernel {
    return [by = rotation<Computed<T>>(w), tokens = tokens_of(w)](std::span<void* const> tensors) {
      rotate_plainly(with_tables(by, tensors), elements<const T>(tensors, 0), elements<T>(tensors, 3), tokens);
    };
  });
}

Kernel prepare_rope_vectorized(const Op& op, const Workload& w, Device& device) {
  auto& cpu = as_cpu(device);
  const bool streamed = stores_past_caches(op, w, device);
  return with_element_type(w.dtype, [&]<typename T>() -> Kernel {
    const auto kernel = with_isa(cpu.isa(), []<Isa isa>() { return &rope_tokens<isa, T>; });
    const std::int64_t tokens = tokens_of(w);
    const std::int64_t token_bytes = op.tensors(w)[0].bytes() / tokens;
    return [&pool = cpu.pool(), kernel, streamed, by = rotation<Computed<T>>(w), tokens,
            least = kMinChunkBytes / token_bytes](std::span<void* const> tensors) {
      pool.for_chunks(tokens, 1, least, [&](std::int64_t first, std::int64_t last) {
        kernel(with_tables(by, tensors), elements<const T>(tensors, 0), elements<T>(tensors, 3), first, last, streamed);
      });
    };
  });
}

std::vector<Implementation> Rope::implementations() const {
  const std::vector<DType> dtypes = cpu_dtypes();
  return {{.name = "scalar", .summary = "single thread, scalar loop", .dtypes = dtypes, .prepare = prepare_scalar},
          {.name = "vectorized",
           .summary = "all threads, vectors, non-temporal stores",
           .dtypes = dtypes,
           .non_temporal_stores = true,
           .prepare = [this](const Workload& w, Device& device) { return prepare_rope_vectorized(*this, w, device); }}};
}

std::vector<Shape> Rope::test_shapes(DeviceKind device) const {
  if (device == DeviceKind::cpu) {
    return {{{"batch", 1}, {"seq", 1}, {"heads", 1}, {"head_dim", 2}},
            {{"batch", 3}, {"seq", 7}, {"heads", 5}, {"head_dim", 38}},
            {{"batch", 2}, {"seq", 67}, {"heads", 3}, {"head_dim", 80}},
            {{"batch", 2}, {"seq", 31}, {"heads", 40}, {"head_dim", 128}}};
  }
  // Heads of whole vectors and others, tokens that share a block and tokens that fill it in several rounds.
  return {{{"batch", 1}, {"seq", 1}, {"heads", 1}, {"head_dim", 2}},
          {{"batch", 3}, {"seq", 7}, {"heads", 5}, {"head_dim", 38}},
          {{"batch", 2}, {"seq", 67}, {"heads", 1}, {"head_dim", 64}},
          {{"batch", 2}, {"seq", 67}, {"heads", 3}, {"head_dim", 80}},
          {{"batch", 32}, {"seq", 1}, {"heads", 40}, {"head_dim", 128}},
          {{"batch", 1}, {"seq", 5}, {"heads", 131}, {"head_dim", 256}},
          {{"batch", 1}, {"seq", 3}, {"heads", 2}, {"head_dim", 1022}},
          {{"batch", 1}, {"seq", 3}, {"heads", 3}, {"head_dim", 1024}},
          {{"batch", 2}, {"seq", 1031}, {"heads", 40}, {"head_dim", 128}}};
}

const OpRegistrar kRegistrar(std::make_unique<Rope>());

}  // namespace
}  // namespace roofline
