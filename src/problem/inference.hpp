// The least work of a transformer's inference, part by part: FLOPs, bytes and messages of one GPU.
#pragma once

#include <string>
#include <vector>

#include "model/work.hpp"
#include "problem/transformer.hpp"

namespace roofline {

/// Parameters of an inference.
struct Inference {
  std::int64_t batch = 1;            ///< sequences
  std::int64_t prompt = 2048;        ///< tokens of each that prefill reads
  std::int64_t context = 2048;       ///< tokens of each that a decode step finds in the cache
  std::int64_t tensor_parallel = 1;  ///< GPUs that share each layer
  WeightType weights = WeightType::bf16;
  WeightType cache = WeightType::bf16;  ///< type of keys and values
  bool tf32 = false;                    ///< products of fp32 may round their inputs to TF32
  DeviceKind device = DeviceKind::cuda;
};

/// The unit of products in that type.
Pipe product_pipe(DType type, bool tf32, DeviceKind device);

/// A launch that occurs `times` in each phase, as a kernel of its own: inputs from main memory, outputs to it.
struct ProblemPart {
  std::string name;
  double times = 1;
  Work work;  ///< work of one
};

struct ProblemPhase {
  std::string name;   ///< "prefill", "decode"
  double tokens = 0;  ///< tokens produced
  std::vector<ProblemPart> parts;
  /// All work as one kernel: weights and cache are moved once, intermediate results never. std::nullopt if each row is
  /// a problem of its own.
  std::optional<Work> fused;
  std::optional<Work> messages;  ///< between the GPUs
};

/// Memory of one GPU, bytes.
struct ProblemMemory {
  double weights = 0, cache = 0;
  double total() const { return weights + cache; }
};

struct BoundProblem {
  std::string name;  ///< "llama, 8.03 B parameters"
  std::vector<ProblemPhase> phases;
  std::optional<ProblemMemory> memory;
  double cache_per_sequence = 0;   ///< bytes of one GPU
  std::vector<std::string> notes;  ///< what was assumed
};

/// Prefill of `prompt` tokens and a decode step after `context` tokens.
BoundProblem inference_of(const Transformer& model, const Inference& inference);

}  // namespace roofline
