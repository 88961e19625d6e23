#include "problem/inference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/collective.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

/// The elements that queries see: of causal attention, all keys up to their own place, at most `window` (0: all).
double visible_keys(double queries, double past, double window) {
  const auto sum_to = [](double n) { return n * (n + 1) / 2; };
  const double last = past + queries;
  if (!(window > 0) || last <= window) return sum_to(last) - sum_to(past);
  const double growing = std::max(window - past, 0.0);  // queries that see less than a window
  return (growing > 0 ? sum_to(past + growing) - sum_to(past) : 0) + (queries - growing) * window;
}

/// Parts of one phase for one GPU.
class PhaseParts {
 public:
  PhaseParts(const Transformer& model, const Inference& inference, double queries, double past)
      : model_(model),
        inference_(inference),
        ranks_(static_cast<double>(inference.tensor_parallel)),
        batch_(static_cast<double>(inference.batch)),
        queries_(queries),
        past_(past),
        rows_(batch_ * queries),
        hidden_(static_cast<double>(model.hidden)),
        layers_(static_cast<double>(model.layers)),
        weight_bytes_(bytes_of(inference.weights)),
        type_(product_type(inference.weights)),
        element_(inference.weights == WeightType::fp32 ? 4 : 2),
        pipe_(product_pipe(type_, inference.tf32, inference.device)),
        attention_pipe_(product_pipe(element_ == 4 ? DType::fp32 : DType::bf16, inference.tf32, inference.device)),
        memory_(main_memory(inference.device)) {
    phase_.fused = Work{};
  }

  ProblemPhase made(std::string name, double tokens, double head_rows) {
    phase_.name = std::move(name);
    phase_.tokens = tokens;
    move("embedding", 1, rows_ * hidden_ * element_, rows_ * hidden_ * element_);
    fuse_bytes({.read = rows_ * hidden_ * element_, .write = 0});
    attention_projections();
    attention(layers_ - static_cast<double>(model_.windowed_layers), 0, "attention");
    attention(static_cast<double>(model_.windowed_layers), static_cast<double>(model_.window), "attention in a window");
    mlp();
    small_ops();
    product("language-model head", 1, head_rows, model_.head_parameters() / ranks_, hidden_,
            static_cast<double>(model_.vocabulary) / ranks_, element_, attention_pipe_);
    messages();
    return std::move(phase_);
  }

 private:
  void add(std::string name, double times, Work work) {
    if (!(times > 0)) return;
    for (const auto& [pipe, flops] : work.flops) phase_.fused->flops[pipe] += times * flops;
    for (const auto& [pipe, operations] : work.uncounted) phase_.fused->uncounted[pipe] += times * operations;
    phase_.parts.push_back({std::move(name), times, std::move(work)});
  }

  void fuse_bytes(const Traffic& traffic) {
    Traffic& all = phase_.fused->bytes[memory_];
    all.read += traffic.read;
    all.write += traffic.write;
  }

  /// `rows` x `in` times the weights' `in` x `out`; several matrices of one input may share a launch.
  void product(std::string name, double times, double rows, double parameters, double in, double out,
               double weight_bytes, Pipe pipe) {
    Work work;
    work.flops[pipe] = 2 * rows * parameters;
    work.bytes[memory_] = {.read = parameters * weight_bytes + rows * in * element_, .write = rows * out * element_};
    add(std::move(name), times, std::move(work));
    fuse_bytes({.read = times * parameters * weight_bytes, .write = 0});
  }

  /// Nothing but bytes, as a kernel of its own.
  void move(std::string name, double times, double read, double write) {
    Work work;
    work.bytes[memory_] = {.read = read, .write = write};
    add(std::move(name), times, std::move(work));
  }

  double heads() const { return static_cast<double>(model_.heads) / ranks_; }
  /// Key-value heads of one GPU: at least one.
  double kv_heads() const { return std::max(static_cast<double>(model_.kv_heads) / ranks_, 1.0); }

  void attention_projections() {
    if (model_.latent) return latent_projections();
    const auto width = static_cast<double>(model_.head_dim);
    const double out = (heads() + 2 * kv_heads()) * width;
    product("queries, keys, values", layers_, rows_, hidden_ * out, hidden_, out, weight_bytes_, pipe_);
    product("attention output", layers_, rows_, heads() * width * hidden_, heads() * width, hidden_, weight_bytes_,
            pipe_);
  }

  void latent_projections() {
    const LatentAttention& latent = *model_.latent;
    const double query = heads() * static_cast<double>(latent.position_free + latent.rotary);
    const auto q_rank = static_cast<double>(latent.query_rank), rank = static_cast<double>(latent.key_value_rank);
    const double down = q_rank + rank + static_cast<double>(latent.rotary);
    if (q_rank > 0) {
      product("latents", layers_, rows_, hidden_ * down, hidden_, down, weight_bytes_, pipe_);
      product("queries", layers_, rows_, q_rank * query, q_rank, query, weight_bytes_, pipe_);
    } else {
      product("latents and queries", layers_, rows_, hidden_ * (down + query), hidden_, down + query, weight_bytes_,
              pipe_);
    }
    const double up = heads() * static_cast<double>(latent.position_free + latent.value);
    product("keys and values of latents", layers_, rows_, rank * up, rank, up, weight_bytes_, pipe_);
    const double value = heads() * static_cast<double>(latent.value);
    product("attention output", layers_, rows_, value * hidden_, value, hidden_, weight_bytes_, pipe_);
  }

  /// Scores, softmax and the sum of values in one kernel. A decode step multiplies latents as they are in the cache
  /// (the "absorbed" form); prefill multiplies keys and values.
  void attention(double layers, double window, const char* name) {
    if (!(layers > 0)) return;
    const bool absorbed = model_.latent && past_ > 0;
    double key = static_cast<double>(model_.head_dim), value = key, stored = 2 * kv_heads() * key;
    if (model_.latent) {
      const LatentAttention& latent = *model_.latent;
      const auto rank = static_cast<double>(latent.key_value_rank), rotary = static_cast<double>(latent.rotary);
      key = absorbed ? rank + rotary : static_cast<double>(latent.position_free) + rotary;
      value = absorbed ? rank : static_cast<double>(latent.value);
      stored = rank + rotary;
    }
    const double pairs = batch_ * heads() * visible_keys(queries_, past_, window);
    const double all = past_ + queries_, seen = window > 0 ? std::min(all, window + queries_ - 1) : all;
    const double cache_bytes = bytes_of(inference_.cache);
    const double keys_and_values =
        model_.latent && !absorbed ? heads() * (key + value) * element_ : stored * cache_bytes;
    Work work;
    work.flops[attention_pipe_] = 2 * pairs * (key + value);
    if (inference_.device == DeviceKind::cuda) work.uncounted[Pipe::sfu] = pairs;
    work.bytes[memory_] = {.read = batch_ * seen * keys_and_values + rows_ * heads() * key * element_,
                           .write = rows_ * heads() * value * element_};
    add(name, layers, std::move(work));
    const double old = std::min(past_, seen);
    fuse_bytes({.read = layers * batch_ * old * stored * cache_bytes, .write = layers * rows_ * stored * cache_bytes});
  }

  void mlp_of(const char* up_name, const char* down_name, double layers, double intermediate) {
    const double matrices = model_.gated ? 2 : 1, width = intermediate / ranks_;
    product(up_name, layers, rows_, matrices * hidden_ * width, hidden_, matrices * width, weight_bytes_, pipe_);
    product(down_name, layers, rows_, width * hidden_, width, hidden_, weight_bytes_, pipe_);
  }

  void mlp() {
    const double with_experts = model_.experts ? static_cast<double>(model_.experts->layers) : 0;
    mlp_of("MLP up", "MLP down", layers_ - with_experts, static_cast<double>(model_.intermediate));
    if (!model_.experts) return;
    const Experts& experts = *model_.experts;
    const auto count = static_cast<double>(experts.count), chosen = static_cast<double>(experts.per_token);
    product("router", with_experts, rows_, hidden_ * count, hidden_, count, element_, attention_pipe_);
    if (experts.shared_intermediate > 0) {
      mlp_of("shared experts up", "shared experts down", with_experts,
             static_cast<double>(experts.shared_intermediate));
    }
    // Weights of the experts that some token chooses, if all are equally likely.
    const double touched = count * (1 - std::pow(1 - chosen / count, rows_));
    const double parameters = model_.expert_parameters() / ranks_;
    Work work;
    work.flops[pipe_] = 2 * rows_ * chosen * parameters;
    work.bytes[memory_] = {.read = touched * parameters * weight_bytes_ + rows_ * chosen * hidden_ * element_,
                           .write = rows_ * chosen * hidden_ * element_};
    add("experts", with_experts, std::move(work));
    fuse_bytes({.read = with_experts * touched * parameters * weight_bytes_, .write = 0});
  }

  /// Norms, residual sums, rotation and activations, each reading and writing its tensors once.
  void small_ops() {
    const double vector = rows_ * hidden_ * element_;
    move("norms", layers_ * static_cast<double>(model_.norms_per_layer) + 1, vector, vector);
    move("residual sums", 2 * layers_, 2 * vector, vector);
    const double heads_width = (heads() + kv_heads()) * static_cast<double>(model_.head_dim);
    const double rotated = rows_ * heads_width * element_;
    if (model_.positions == 0) move("rotary positions", layers_, rotated, rotated);
    const double with_experts = model_.experts ? static_cast<double>(model_.experts->layers) : 0;
    const double inner = rows_ * element_ / ranks_;
    const double dense = inner * static_cast<double>(model_.intermediate);
    move("activations", layers_ - with_experts, (model_.gated ? 2 : 1) * dense, dense);
    if (!model_.experts) return;
    const double of_experts = inner * static_cast<double>(model_.experts->per_token * model_.experts->intermediate +
                                                          model_.experts->shared_intermediate);
    move("activations of experts", with_experts, (model_.gated ? 2 : 1) * of_experts, of_experts);
  }

  void messages() {
    if (inference_.tensor_parallel < 2) return;
    Work work;
    const double bytes = rows_ * hidden_ * element_;
    work.collective = Collective{.name = "all_reduce", .ranks = inference_.tensor_parallel};
    work.bytes[Level::network] = {.read = bytes * bus_factor("all_reduce", inference_.tensor_parallel).value_or(1)};
    phase_.parts.push_back({"all-reduce", 2 * layers_, work});
    phase_.messages = work;
    phase_.messages->bytes[Level::network].read *= 2 * layers_;
  }

  const Transformer& model_;
  const Inference& inference_;
  double ranks_, batch_, queries_, past_, rows_, hidden_, layers_, weight_bytes_;
  DType type_;
  double element_;  ///< bytes of an activation
  Pipe pipe_, attention_pipe_;
  Level memory_;
  ProblemPhase phase_;
};

/// "8.03 B", "124 M".
std::string parameter_text(double parameters) {
  constexpr double kTrillion = 1e12, kBillion = 1e9, kMillion = 1e6;
  if (parameters >= kTrillion) return fmt::format("{:.3g} T", parameters / kTrillion);
  if (parameters >= kBillion) return fmt::format("{:.3g} B", parameters / kBillion);
  return fmt::format("{:.3g} M", parameters / kMillion);
}

/// Bytes of one GPU's weights, as vLLM and SGLang place them: embedding and head are divided by the vocabulary; norms,
/// router, learned positions and projections to latents are on each GPU.
double weight_bytes(const Transformer& model, const Inference& inference) {
  const auto ranks = static_cast<double>(inference.tensor_parallel);
  const double element = inference.weights == WeightType::fp32 ? 4 : 2;
  const double vocabulary = (model.tied ? 1 : 2) * model.head_parameters();
  const double small = model.small_parameters(), latents = model.latent_parameters();
  const double key_value = model.key_value_parameters();
  const double divided = model.parameters() - vocabulary - small - latents - key_value;
  // With more GPUs than heads of keys and values, several have the same head.
  const double own_key_value = key_value / std::min(ranks, static_cast<double>(model.kv_heads));
  return (divided / ranks + latents + own_key_value) * bytes_of(inference.weights) +
         (vocabulary / ranks + small) * element;
}

}  // namespace

Pipe product_pipe(DType type, bool tf32, DeviceKind device) {
  return matrix_pipe(type == DType::fp32 && tf32 ? DType::tf32 : type, device);
}

BoundProblem inference_of(const Transformer& model, const Inference& inference) {
  BoundProblem problem;
  const std::string active =
      model.experts ? fmt::format(", {} active", parameter_text(model.active_parameters())) : std::string();
  problem.name = fmt::format("{}, {} parameters{}", model.type.empty() ? "transformer" : model.type,
                             parameter_text(model.parameters()), active);
  problem.notes = model.assumptions;
  const auto batch = static_cast<double>(inference.batch);
  problem.phases.push_back(
      PhaseParts(model, inference, static_cast<double>(inference.prompt), 0).made("prefill", batch, batch));
  problem.phases.push_back(
      PhaseParts(model, inference, 1, static_cast<double>(inference.context)).made("decode", batch, batch));
  const auto ranks = static_cast<double>(inference.tensor_parallel);
  const double shared = model.latent ? 1 : std::min(ranks, static_cast<double>(model.kv_heads));
  const double tokens = static_cast<double>(std::max(inference.prompt, inference.context) + 1);
  const auto whole = static_cast<double>(model.layers - model.windowed_layers);
  const double kept =
      whole * tokens + static_cast<double>(model.windowed_layers) * std::min(tokens, static_cast<double>(model.window));
  problem.cache_per_sequence = kept * model.cached_elements() * bytes_of(inference.cache) / shared;
  problem.memory =
      ProblemMemory{.weights = weight_bytes(model, inference), .cache = batch * problem.cache_per_sequence};
  return problem;
}

}  // namespace roofline
