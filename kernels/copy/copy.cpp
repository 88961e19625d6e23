// Copy: y = x within main memory. Work model, reference and CPU implementations; the CUDA ones are in copy.cu.
//   naive       single thread, memcpy
//   vectorized  all threads, non-temporal stores: memory sees one read and one write per element
#include "kernels/copy/copy.hpp"

#include <cstring>

#include "kernels/blocks/cpu/cpu_launch.hpp"
#include "kernels/blocks/data_movement.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

class Copy final : public DataMovement {
 public:
  std::string_view name() const override { return "copy"; }
  std::string_view summary() const override { return "y = x, within main memory"; }

  std::vector<ShapeParameter> parameters() const override {
    return {{.name = "n", .meaning = "elements", .default_value = std::int64_t{1} << 26}};
  }

  Work work(const Workload& w, DeviceKind device) const override {
    const double bytes = static_cast<double>(w.shape["n"]) * static_cast<double>(element_size(w.dtype));
    Work work;
    work.bytes[main_memory(device)] = {.read = bytes, .write = bytes};
    return work;
  }

  std::vector<Implementation> implementations() const override;
  std::vector<Shape> test_shapes(DeviceKind device) const override {
    if (device == DeviceKind::cpu) return {{{"n", 1}}, {{"n", 31}}, {{"n", 100'003}}};
    return {{{"n", 1}}, {{"n", 7}}, {{"n", 1000003}}, {{"n", 1 << 22}}};
  }
};

Kernel prepare_naive_copy(const Workload& w, Device&) {
  return [bytes = static_cast<std::size_t>(w.shape["n"] * element_size(w.dtype))](std::span<void* const> tensors) {
    std::memcpy(tensors[1], tensors[0], bytes);
  };
}

Kernel prepare_copy_vectorized(const Op& op, const Workload& w, Device& device) {
  auto& cpu = as_cpu(device);
  const bool streamed = stores_past_caches(op, w, device);
  const auto copy = with_isa(cpu.isa(), []<Isa isa>() { return &copy_streamed<isa>; });
  return [&pool = cpu.pool(), copy, streamed,
          bytes = w.shape["n"] * element_size(w.dtype)](std::span<void* const> tensors) {
    const auto* x = elements<const std::byte>(tensors, 0);
    auto* y = elements<std::byte>(tensors, 1);
    constexpr std::int64_t kPage = 4096;
    pool.for_chunks(bytes, kPage, kMinChunkBytes, [&](std::int64_t begin, std::int64_t end) {
      if (streamed) {
        copy(x + begin, y + begin, end - begin);
      } else {
        std::memcpy(y + begin, x + begin, static_cast<std::size_t>(end - begin));
      }
    });
  };
}

std::vector<Implementation> Copy::implementations() const {
  const std::vector<DType> dtypes = cpu_dtypes();
  return {{.name = "naive", .summary = "single thread, memcpy", .dtypes = dtypes, .prepare = prepare_naive_copy},
          {.name = "vectorized",
           .summary = "all threads, vectors, non-temporal stores",
           .dtypes = dtypes,
           .non_temporal_stores = true,
           .prepare = [this](const Workload& w, Device& device) { return prepare_copy_vectorized(*this, w, device); }}};
}

const OpRegistrar kRegistrar(std::make_unique<Copy>());

}  // namespace
}  // namespace roofline
