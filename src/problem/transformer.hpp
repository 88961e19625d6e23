// A decoder-only transformer, as Hugging Face's config.json describes it. Plain data and counts; no device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/names.hpp"

namespace roofline {

/// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): keys and values are kept as one vector a token.
struct LatentAttention {
  std::int64_t query_rank = 0;  ///< 0: queries are projected in one step
  std::int64_t key_value_rank = 0;
  std::int64_t position_free = 0, rotary = 0;  ///< dimensions of a head's queries and keys
  std::int64_t value = 0;                      ///< dimensions of a head's values
};

/// A mixture of experts in place of the MLP.
struct Experts {
  std::int64_t count = 0, per_token = 0, intermediate = 0;
  std::int64_t shared_intermediate = 0;  ///< sum over all shared experts; 0: none
  std::int64_t layers = 0;               ///< layers with experts; the others have the MLP
};

/// Storage type of weights. int8 and int4 are widened before the products; fp8 is multiplied directly.
enum class WeightType : std::uint8_t { fp32, bf16, fp16, fp8, int8, int4 };
std::string_view to_string(WeightType type);
double bytes_of(WeightType type);
/// Type of the products with such weights.
DType product_type(WeightType type);

struct Transformer {
  std::string type;  ///< "model_type" of the file
  std::int64_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, vocabulary = 0;
  std::int64_t intermediate = 0;  ///< intermediate size of the MLP
  bool gated = true;              ///< three matrices in the MLP instead of two
  bool tied = false;              ///< the head is the embedding
  std::optional<LatentAttention> latent;
  std::optional<Experts> experts;
  std::int64_t window = 0, windowed_layers = 0;  ///< keys that a query of these layers sees
  std::int64_t positions = 0;                    ///< learned position vectors
  std::int64_t norm_vectors = 1;                 ///< vectors per norm: 1 (scale), or 2 (scale and offset)
  std::int64_t norms_per_layer = 2;
  bool qkv_bias = false, out_bias = false, mlp_bias = false, head_bias = false;
  bool query_key_norm = false, embedding_norm = false;
  WeightType weights = WeightType::bf16;
  std::vector<std::string> assumptions;  ///< what the file does not say

  double attention_parameters() const;  ///< per layer, matrices only
  double mlp_parameters() const;        ///< per layer without experts, matrices only
  double expert_parameters() const;     ///< one expert, matrices only
  double shared_parameters() const;     ///< shared experts of a layer, matrices only
  double head_parameters() const;       ///< output head, whether or not it shares the embedding
  double parameters() const;            ///< all
  double active_parameters() const;     ///< all but the experts that a token does not use
  /// Norms, router and learned positions: each GPU of a tensor-parallel group has them, in the type of activations.
  double small_parameters() const;
  /// Projections to latents, which each GPU of a tensor-parallel group has, in the type of weights.
  double latent_parameters() const;
  /// Projections to keys and values of all heads, which GPUs share unless there are more of them than heads.
  double key_value_parameters() const;
  /// Elements kept for a token and layer, of all heads.
  double cached_elements() const;
};

/// Reads config.json. Throws UsageError that names the file and the key.
Transformer read_transformer(const std::string& text, const std::string& file);

}  // namespace roofline
