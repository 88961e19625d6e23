// The memory of a case. Tensors of a megabyte or more get their own buffers, so that a device can place each near its
// threads; smaller ones share a slab over all sets.
#include "op/buffer_pool.hpp"
#include "op/case_state.hpp"
#include "op/suite_op.hpp"

namespace roofline {
namespace {

constexpr std::int64_t kOwnBufferBytes = std::int64_t{1} << 20;

}  // namespace

void Case::State::allocate() {
  sets = roofline::buffer_sets(specs, workload.cache,
                               {.bytes = device.last_level_cache_bytes(),
                                .device = device.info().kind,
                                .free_memory_bytes = std::min(device.free_memory_bytes(), placement.most_free_bytes)});
  pointers.assign(static_cast<std::size_t>(sets), std::vector<void*>(specs.size()));
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (!holds(t)) continue;
    const std::int64_t stride = this->stride(t);
    const std::int64_t per_buffer = stride >= kOwnBufferBytes ? 1 : sets;
    for (std::int64_t set = 0; set < sets; ++set) {
      if (set % per_buffer == 0) {
        const auto bytes = static_cast<std::size_t>(stride * per_buffer);
        buffers.push_back(placement.pool != nullptr ? placement.pool->take(device_of(t), bytes)
                                                    : device_of(t).allocate(bytes));
        resident += static_cast<double>(stride * per_buffer);
      }
      auto* base = static_cast<std::byte*>(buffers.back()->data());
      pointers[static_cast<std::size_t>(set)][t] = base + set % per_buffer * stride + kGuardBytes + placement.offset(t);
    }
  }
}

void Case::State::fill(std::size_t t, HostTensor& tensor) const {
  const std::uint64_t seed = tensor_seed(workload.seed, t);
  const SuiteOp* own = as_suite_op(op);
  if (own != nullptr) {
    own->fill(workload, t, seed, tensor);
  } else {
    tensor.fill_random(seed);
  }
}

void Case::State::make_inputs() {
  inputs.clear();
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (is_read(specs[t].role)) fill(t, inputs.emplace_back(specs[t]));
  }
}

void Case::State::upload_inputs() {
  auto input = inputs.begin();
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (!is_read(specs[t].role)) continue;
    const auto bytes = input++->bytes();
    if (!holds(t)) continue;
    device_of(t).upload(pointers[0][t], bytes.data(), bytes.size());
    repeat_in_all_sets(t);
  }
}

/// Fills the inputs of all sets with a random start, doubled on the device until it covers them. Indices of a suite's
/// own kernel would point elsewhere: they are filled completely.
void Case::State::repeat_inputs() {
  constexpr std::int64_t kBeginning = std::int64_t{1} << 22;  // elements
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (!is_read(specs[t].role) || !holds(t)) continue;
    TensorSpec beginning = specs[t];
    const SuiteOp* own = as_suite_op(op);
    if (own == nullptr || own->start_repeats(t)) beginning.elements = std::min(beginning.elements, kBeginning);
    HostTensor values(beginning);
    fill(t, values);
    auto* tensor = static_cast<std::byte*>(pointers[0][t]);
    device_of(t).upload(tensor, values.bytes().data(), values.bytes().size());
    for (std::int64_t made = beginning.bytes(); made < specs[t].bytes(); made *= 2) {
      device_of(t).copy(tensor + made, tensor, static_cast<std::size_t>(std::min(made, specs[t].bytes() - made)));
    }
    repeat_in_all_sets(t);
  }
}

/// Copies tensor `t` of set 0 to the others. A slab is doubled from its start, because 4096 small copies would take
/// longer than the measurement.
void Case::State::repeat_in_all_sets(std::size_t t) {
  const std::int64_t stride = this->stride(t);
  if (stride >= kOwnBufferBytes) {
    const auto bytes = static_cast<std::size_t>(specs[t].bytes());
    for (std::size_t set = 1; set < pointers.size(); ++set) device_of(t).copy(pointers[set][t], pointers[0][t], bytes);
    return;
  }
  auto* slab = static_cast<std::byte*>(pointers[0][t]) - kGuardBytes - placement.offset(t);
  for (std::int64_t made = 1; made < sets; made *= 2) {
    const std::int64_t more = std::min(made, sets - made);
    device_of(t).copy(slab + made * stride, slab, static_cast<std::size_t>(more * stride));
  }
}

void Case::State::keep_first_values() {
  first_values.resize(specs.size());
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (specs[t].role != TensorRole::inout || !holds(t)) continue;
    const auto bytes = static_cast<std::size_t>(specs[t].bytes());
    first_values[t] = device_of(t).allocate(bytes);
    resident += static_cast<double>(bytes);
  }
  copy_first_values();
}

void Case::State::copy_first_values() {
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (specs[t].role != TensorRole::inout || !holds(t)) continue;
    device_of(t).copy(first_values[t]->data(), pointers[0][t], static_cast<std::size_t>(specs[t].bytes()));
  }
}

/// Inout data continues from the previous launch; over many launches it may overflow, or become subnormal, which a
/// CPU computes a hundred times slower.
void Case::State::restore_inouts() {
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (specs[t].role != TensorRole::inout || !holds(t)) continue;
    device_of(t).copy(pointers[0][t], first_values[t]->data(), static_cast<std::size_t>(specs[t].bytes()));
    repeat_in_all_sets(t);
  }
  device.synchronize();
  launches_since_restored = 0;
}

}  // namespace roofline
