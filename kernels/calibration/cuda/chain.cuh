// Common to the arithmetic probes: independent chains of one instruction in registers, with random initial values;
// every thread stores the final values, folded into one word.
#pragma once

#include <functional>
#include <vector>

#include "kernels/calibration/cuda/probe.cuh"

namespace roofline {

constexpr int kChainUnroll = 16;

struct ChainShape {
  int chains;
  int threads;  /// per block
  int blocks;   /// per SM
};

/// Rounds of kChainUnroll steps for a launch of about a millisecond: long compared with the launch overhead and
/// with the tenth of a millisecond in which an H200's clock stabilises.
int chain_rounds(const CudaDevice& device, Pipe pipe, const ChainShape& shape, double operations_per_step,
                 double scale);

/// A case without `instruction` and `code`. `launch` enqueues the kernel; `verify` receives the word of each
/// thread.
template <typename Word>
ProbeCase chain_case(CudaDevice& device, Pipe pipe, const ChainShape& shape, double operations,
                     std::function<void(unsigned blocks, Word* out)> launch,
                     std::function<std::optional<std::string>(const std::vector<Word>&)> verify) {
  const auto blocks = static_cast<unsigned>(device.properties().sm_count * shape.blocks);
  const std::size_t threads = std::size_t{blocks} * static_cast<std::size_t>(shape.threads);
  const std::shared_ptr<Buffer> out = shared_buffer(device, static_cast<std::int64_t>(threads * sizeof(Word)));
  device.fill(out->data(), std::byte{0xFF}, out->size());
  ProbeCase made;
  made.variant = std::to_string(shape.chains) + " chains, " + std::to_string(shape.blocks) + " blocks of " +
                 std::to_string(shape.threads) + " per SM";
  made.amount = operations * static_cast<double>(threads);
  made.work.flops[pipe] = made.amount;
  made.work.bytes[Level::hbm].write = static_cast<double>(out->size());
  made.run = [=] { launch(blocks, static_cast<Word*>(out->data())); };
  made.verify = [=, &device] {
    std::vector<Word> words(threads);
    device.download(words.data(), out->data(), out->size());
    return verify(words);
  };
  return made;
}

/// The roof of such a pipe. Its limit is exact for known architectures.
Probe chain_probe(Pipe pipe, double least_of_limit);

}  // namespace roofline
