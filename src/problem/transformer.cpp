#include "problem/transformer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>

#include "model/error.hpp"
#include "model/spelling.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 6> kWeightNames = {"fp32", "bf16", "fp16", "fp8", "int8", "int4"};

/// What config.json leaves to the code of its model type (transformers' modeling_*.py).
struct Family {
  std::string_view type;
  bool gated = true;
  std::int64_t norm_vectors = 1, norms_per_layer = 2;
  bool biased = false;  ///< attention and MLP
  bool qkv_bias = false, mlp_bias = false, head_bias = false;
  bool query_key_norm = false, tied = false, positions = false;
  std::int64_t extra_positions = 0;
  bool embedding_norm = false;
  bool multi_query = false;      ///< one key-value head, where the file does not say otherwise
  std::int64_t windowed_of = 0;  ///< all but one of so many layers have a window; 0: all where there is a window
};

constexpr Family kFamilies[] = {
    {.type = "llama"},
    {.type = "mistral"},
    {.type = "mixtral"},
    {.type = "qwen2", .qkv_bias = true},
    {.type = "qwen2_moe", .qkv_bias = true},
    {.type = "qwen3", .query_key_norm = true},
    {.type = "qwen3_moe", .query_key_norm = true},
    {.type = "gemma", .tied = true},
    {.type = "gemma2", .norms_per_layer = 4, .tied = true, .windowed_of = 2},
    {.type = "gemma3_text", .norms_per_layer = 4, .query_key_norm = true, .tied = true, .windowed_of = 6},
    {.type = "phi3"},
    {.type = "granite"},
    {.type = "deepseek_v2"},
    {.type = "deepseek_v3"},
    {.type = "gpt_oss", .biased = true, .windowed_of = 2},
    {.type = "phi", .gated = false, .norm_vectors = 2, .norms_per_layer = 1, .biased = true, .head_bias = true},
    {.type = "gpt2", .gated = false, .norm_vectors = 2, .biased = true, .tied = true, .positions = true},
    {.type = "opt",
     .gated = false,
     .norm_vectors = 2,
     .biased = true,
     .tied = true,
     .positions = true,
     .extra_positions = 2},
    {.type = "gpt_neox", .gated = false, .norm_vectors = 2, .biased = true},
    {.type = "nemotron", .gated = false, .norm_vectors = 2},
    {.type = "cohere", .norms_per_layer = 1, .tied = true},
    {.type = "cohere2", .norms_per_layer = 1, .tied = true, .windowed_of = 4},
    {.type = "llama4_text"},
    {.type = "gptj", .gated = false, .norm_vectors = 2, .norms_per_layer = 1, .mlp_bias = true, .head_bias = true},
    {.type = "bloom", .gated = false, .norm_vectors = 2, .biased = true, .tied = true, .embedding_norm = true},
    {.type = "mpt", .gated = false, .tied = true},
    {.type = "falcon", .gated = false, .norm_vectors = 2, .norms_per_layer = 1, .tied = true, .multi_query = true},
    {.type = "gpt_bigcode",
     .gated = false,
     .norm_vectors = 2,
     .biased = true,
     .tied = true,
     .positions = true,
     .multi_query = true},
    {.type = "starcoder2", .gated = false, .norm_vectors = 2, .biased = true, .tied = true},
};

/// What has such members has layers without attention.
constexpr std::string_view kOfStateSpace[] = {
    "state_size",        "mamba_d_state",          "ssm_cfg", "linear_num_key_heads", "conv_L_cache",
    "attn_layer_period", "hybrid_override_pattern"};

/// Types that are something else than a stack of attention and MLP of one sequence.
constexpr std::string_view kOthers[] = {"t5",   "mt5",   "bart",   "whisper", "mamba", "mamba2", "rwkv",
                                        "clip", "jamba", "marian", "pegasus", "bert",  "vit",    "roberta"};

class ConfigReader {
 public:
  ConfigReader(const Json& json, const std::string& file) : json_(json), file_(file) {}

  [[noreturn]] void fail(const std::string& what, const std::string& hint) const {
    throw UsageError(fmt::format("{}: {}", file_, what), hint);
  }

  const Json* find(std::initializer_list<const char*> keys) const {
    for (const char* key : keys) {
      const auto found = json_.find(key);
      if (found != json_.end() && !found->is_null()) return &*found;
    }
    return nullptr;
  }

  /// A size of the model, or `otherwise` where the file has none; without that it must have one.
  std::int64_t size(std::initializer_list<const char*> keys, std::optional<std::int64_t> fallback = {}) const {
    constexpr std::int64_t kMost = 100'000'000;
    const Json* found = find(keys);
    if (found == nullptr) {
      if (fallback) return *fallback;
      fail(fmt::format("no \"{}\"", *keys.begin()), "expected the config.json of a decoder-only transformer");
    }
    const bool whole = found->is_number_integer() && !found->is_number_float();
    const std::int64_t value = whole ? found->get<std::int64_t>() : -1;
    if (value < (fallback ? 0 : 1) || value > kMost) {
      fail(fmt::format("\"{}\" is {}", *keys.begin(), found->dump().substr(0, 40)),
           fmt::format("expected a whole number from {} to {}", fallback ? 0 : 1, kMost));
    }
    return value;
  }

  bool flag(const char* key, bool fallback) const {
    const Json* found = find({key});
    return found != nullptr && found->is_boolean() ? found->get<bool>() : fallback;
  }

  std::string word(std::initializer_list<const char*> keys) const {
    const Json* found = find(keys);
    return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
  }

 private:
  const Json& json_;
  const std::string& file_;
};

/// Weight type from "quantization_config", else from "torch_dtype".
WeightType weights_of(const Json& json, const ConfigReader& config, std::vector<std::string>& assumptions) {
  if (const auto found = json.find("quantization_config"); found != json.end() && found->is_object()) {
    const ConfigReader quantization(*found, "quantization_config");
    const std::string method = lower_case(quantization.word({"quant_method", "quant_algo"}));
    const std::int64_t bits =
        quantization.find({"bits", "w_bit"}) != nullptr ? quantization.size({"bits", "w_bit"}) : 0;
    if (bits == 4 || method == "mxfp4" || quantization.flag("load_in_4bit", false)) return WeightType::int4;
    if (bits == 8 || quantization.flag("load_in_8bit", false)) return WeightType::int8;
    if (method.find("fp8") != std::string::npos) return WeightType::fp8;
    assumptions.emplace_back("weights are bf16, because their quantization is not known (--weights)");
    return WeightType::bf16;
  }
  const std::string type = config.word({"torch_dtype", "dtype"});
  if (type == "float32") return WeightType::fp32;
  if (type == "float16") return WeightType::fp16;
  if (type != "bfloat16") assumptions.emplace_back("weights are bf16, because the file names no type (--weights)");
  return WeightType::bf16;
}

/// Layers of another kind would be counted as attention.
void refuse_other_layers(const Json& json, const ConfigReader& config) {
  const auto refuse = [&](const std::string& what) {
    config.fail(fmt::format("{}: not all layers are attention and MLP", what),
                "write its ops into a suite: roofline help bound");
  };
  for (const std::string_view key : kOfStateSpace) {
    if (json.contains(key)) refuse(fmt::format("\"{}\"", key));
  }
  const Json* kinds = config.find({"layer_types"});
  if (kinds == nullptr || !kinds->is_array()) return;
  for (const Json& kind : *kinds) {
    if (kind != "full_attention" && kind != "sliding_attention" && kind != "chunked_attention")
      refuse("\"layer_types\" has " + kind.dump().substr(0, 40));
  }
}

void read_attention(const ConfigReader& config, const Family& family, Transformer& model) {
  model.heads = config.size({"num_attention_heads", "n_head", "n_heads"});
  const bool one = config.flag("multi_query", family.multi_query) && !config.flag("new_decoder_architecture", false);
  // A Falcon with one key-value head states "num_kv_heads" all the same, as the number of its heads.
  model.kv_heads = one ? 1 : config.size({"num_key_value_heads", "num_kv_heads", "n_head_kv"}, model.heads);
  if (model.kv_heads < 1 || model.heads % model.kv_heads != 0) {
    config.fail(fmt::format("{} heads do not share {} key-value heads evenly", model.heads, model.kv_heads),
                "correct \"num_key_value_heads\"");
  }
  model.head_dim = config.size({"head_dim"}, 0);
  if (model.head_dim == 0) {
    model.head_dim = model.hidden / model.heads;
    if (model.head_dim < 1) config.fail("\"hidden_size\" is less than the number of heads", "correct the file");
  }
  if (const std::int64_t rank = config.size({"kv_lora_rank"}, 0); rank > 0) {
    model.latent = LatentAttention{.query_rank = config.size({"q_lora_rank"}, 0),
                                   .key_value_rank = rank,
                                   .position_free = config.size({"qk_nope_head_dim"}),
                                   .rotary = config.size({"qk_rope_head_dim"}),
                                   .value = config.size({"v_head_dim"})};
  }
  model.window =
      config.flag("use_sliding_window", true) ? config.size({"sliding_window", "attention_chunk_size"}, 0) : 0;
  if (model.window == 0) return;
  const Json* kinds = config.find({"layer_types"});
  if (kinds != nullptr && kinds->is_array()) {
    model.windowed_layers = std::count(kinds->begin(), kinds->end(), Json("sliding_attention")) +
                            std::count(kinds->begin(), kinds->end(), Json("chunked_attention"));
  } else {
    const std::int64_t every = config.size({"sliding_window_pattern", "no_rope_layer_interval"}, family.windowed_of);
    model.windowed_layers = every > 0 ? model.layers - model.layers / every : model.layers;
  }
  model.windowed_layers = std::min(model.windowed_layers, model.layers);
}

void read_experts(const ConfigReader& config, Transformer& model) {
  const std::int64_t count = config.size({"n_routed_experts", "num_local_experts", "num_experts"}, 0);
  if (count < 2) return;
  Experts experts{.count = count, .per_token = config.size({"num_experts_per_tok", "experts_per_token"})};
  if (experts.per_token > count) config.fail("more experts for a token than there are", "correct the file");
  experts.intermediate = config.size({"moe_intermediate_size"}, model.intermediate);
  // Llama 4 has the size of experts where others have that of the MLP, and a shared expert that no member counts.
  const bool of_experts = config.find({"intermediate_size_mlp"}) != nullptr;
  if (of_experts) model.intermediate = config.size({"intermediate_size_mlp"});
  const std::int64_t shared = config.size({"n_shared_experts"}, of_experts ? 1 : 0);
  experts.shared_intermediate = config.size({"shared_expert_intermediate_size"}, shared * experts.intermediate);
  const std::int64_t step =
      std::max<std::int64_t>(config.size({"decoder_sparse_step", "moe_layer_freq", "interleave_moe_layer_step"}, 1), 1);
  const Json* without = config.find({"mlp_only_layers"});
  const auto listed = without != nullptr && without->is_array() ? static_cast<std::int64_t>(without->size()) : 0;
  const std::int64_t dense = std::min(config.size({"first_k_dense_replace"}, 0) + listed, model.layers);
  experts.layers = (model.layers - dense) / step;
  model.experts = experts;
}

Json parsed(const std::string& text, const std::string& file) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    throw UsageError(fmt::format("{}: not JSON: {}", file, error.what()), "expected a config.json");
  }
}

}  // namespace

std::string_view to_string(WeightType type) { return spell(kWeightNames, type); }

double bytes_of(WeightType type) {
  // int4 with a scale of 16 bits for each group of 32 or 128; 0.5 is the least.
  constexpr std::array<double, 6> kBytes = {4, 2, 2, 1, 1, 0.5};
  return kBytes.at(static_cast<std::size_t>(type));
}

DType product_type(WeightType type) {
  constexpr std::array<DType, 6> kTypes = {DType::fp32, DType::bf16, DType::fp16, DType::fp8, DType::bf16, DType::bf16};
  return kTypes.at(static_cast<std::size_t>(type));
}

double Transformer::attention_parameters() const {
  const auto d = static_cast<double>(hidden), h = static_cast<double>(heads);
  if (latent) {
    const auto query = static_cast<double>(latent->position_free + latent->rotary);
    const auto q_rank = static_cast<double>(latent->query_rank), rank = static_cast<double>(latent->key_value_rank);
    const double queries = q_rank > 0 ? d * q_rank + q_rank * h * query : d * h * query;
    return queries + d * (rank + static_cast<double>(latent->rotary)) +
           rank * h * static_cast<double>(latent->position_free + latent->value) +
           h * static_cast<double>(latent->value) * d;
  }
  const auto width = static_cast<double>(head_dim);
  return 2 * d * h * width + 2 * d * static_cast<double>(kv_heads) * width;
}

double Transformer::mlp_parameters() const {
  return (gated ? 3.0 : 2.0) * static_cast<double>(hidden) * static_cast<double>(intermediate);
}

double Transformer::expert_parameters() const {
  return experts ? (gated ? 3.0 : 2.0) * static_cast<double>(hidden) * static_cast<double>(experts->intermediate) : 0;
}

double Transformer::shared_parameters() const {
  return experts ? (gated ? 3.0 : 2.0) * static_cast<double>(hidden) * static_cast<double>(experts->shared_intermediate)
                 : 0;
}

double Transformer::head_parameters() const { return static_cast<double>(vocabulary) * static_cast<double>(hidden); }

double Transformer::parameters() const {
  const auto d = static_cast<double>(hidden), n = static_cast<double>(layers);
  const auto with_experts = static_cast<double>(experts ? experts->layers : 0);
  const auto width = static_cast<double>(head_dim);
  double layer = attention_parameters() + static_cast<double>(norms_per_layer * norm_vectors) * d;
  if (query_key_norm) layer += 2 * width;
  if (latent) layer += static_cast<double>(latent->query_rank + latent->key_value_rank);  // their norms
  if (qkv_bias) layer += static_cast<double>(heads + 2 * kv_heads) * width;
  if (out_bias) layer += d;
  const double bias = mlp_bias ? static_cast<double>((gated ? 2 : 1) * intermediate) + d : 0;
  double all = n * layer + (n - with_experts) * (mlp_parameters() + bias);
  if (experts) {
    const auto count = static_cast<double>(experts->count);
    all += with_experts * (count * (expert_parameters() + bias) + shared_parameters() + count * d);
  }
  all +=
      (tied ? 1 : 2) * head_parameters() + static_cast<double>(positions) * d + static_cast<double>(norm_vectors) * d;
  if (embedding_norm) all += static_cast<double>(norm_vectors) * d;
  return all + (head_bias ? static_cast<double>(vocabulary) : 0);
}

double Transformer::small_parameters() const {
  const auto d = static_cast<double>(hidden), n = static_cast<double>(layers);
  double norms = static_cast<double>((layers * norms_per_layer + 1) * norm_vectors) * d;
  if (embedding_norm) norms += static_cast<double>(norm_vectors) * d;
  if (query_key_norm) norms += 2 * n * static_cast<double>(head_dim);
  if (latent) norms += n * static_cast<double>(latent->query_rank + latent->key_value_rank);
  const double router = experts ? static_cast<double>(experts->layers * experts->count) * d : 0;
  return norms + router + static_cast<double>(positions) * d;
}

double Transformer::latent_parameters() const {
  if (!latent) return 0;
  const auto width = static_cast<double>(latent->query_rank + latent->key_value_rank + latent->rotary);
  return static_cast<double>(layers) * static_cast<double>(hidden) * width;
}

double Transformer::key_value_parameters() const {
  return latent ? 0 : 2 * static_cast<double>(layers * kv_heads * head_dim) * static_cast<double>(hidden);
}

double Transformer::active_parameters() const {
  if (!experts) return parameters();
  const auto idle = static_cast<double>(experts->count - experts->per_token);
  return parameters() - static_cast<double>(experts->layers) * idle * expert_parameters();
}

double Transformer::cached_elements() const {
  return latent ? static_cast<double>(latent->key_value_rank + latent->rotary)
                : 2 * static_cast<double>(kv_heads * head_dim);
}

Transformer read_transformer(const std::string& text, const std::string& file) {
  const Json whole = parsed(text, file);
  if (!whole.is_object()) throw UsageError(file + ": not a JSON object", "expected a config.json");
  Transformer model;
  const auto nested = whole.find("text_config");
  const bool of_text = nested != whole.end() && nested->is_object() && !whole.contains("hidden_size");
  const Json& json = of_text ? *nested : whole;
  const ConfigReader config(json, file);
  if (of_text) model.assumptions.emplace_back("the text model alone: encoders of images and sound are left out");
  model.type = config.word({"model_type"});
  if (std::find(std::begin(kOthers), std::end(kOthers), model.type) != std::end(kOthers) ||
      config.flag("is_encoder_decoder", false)) {
    config.fail(fmt::format("\"model_type\" {} is not a decoder-only transformer", model.type),
                "write its ops into a suite: roofline help bound");
  }
  refuse_other_layers(json, config);
  const auto* family = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                    [&](const Family& known) { return known.type == model.type; });
  static constexpr Family kUnknown = {};
  if (family == std::end(kFamilies)) {
    family = &kUnknown;
    model.assumptions.push_back(fmt::format("\"model_type\" {} is not known: taken as a llama (gated MLP, no biases)",
                                            model.type.empty() ? "(none)" : model.type));
  }
  model.layers = config.size({"num_hidden_layers", "n_layer", "n_layers", "num_layers"});
  model.hidden = config.size({"hidden_size", "n_embd", "d_model"});
  model.vocabulary = config.size({"vocab_size"});
  constexpr std::int64_t kUsual = 4;  // hidden sizes, of GPT-2 and its kin
  const std::int64_t ratio = config.size({"expansion_ratio"}, kUsual);
  model.intermediate = config.size({"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"},
                                   family->gated ? std::optional<std::int64_t>() : ratio * model.hidden);
  model.gated = family->gated;
  model.norm_vectors = family->norm_vectors;
  model.norms_per_layer = family->norms_per_layer;
  // Falcon 40B and 180B: attention and MLP of a layer have the same input, but each has a norm of its own.
  if (config.flag("new_decoder_architecture", false)) {
    model.norms_per_layer = config.size({"num_ln_in_parallel_attn"}, 2);
  }
  const bool biased = config.flag("attention_bias", false);
  model.qkv_bias = family->qkv_bias || family->biased || biased;
  model.out_bias = family->biased || biased;
  model.mlp_bias = config.flag("mlp_bias", family->biased || family->mlp_bias);
  model.embedding_norm = family->embedding_norm;
  model.head_bias = family->head_bias;
  model.query_key_norm = family->query_key_norm;
  model.tied = config.flag("tie_word_embeddings", family->tied);
  if (family->positions) {
    model.positions = config.size({"max_position_embeddings", "n_positions", "n_ctx"}) + family->extra_positions;
  }
  read_attention(config, *family, model);
  if (model.window > 0 && config.find({"attention_chunk_size"}) != nullptr) {
    model.assumptions.push_back(fmt::format("attention in chunks is counted as a window of {} tokens", model.window));
  }
  read_experts(config, model);
  model.weights = weights_of(whole, config, model.assumptions);
  return model;
}

}  // namespace roofline
