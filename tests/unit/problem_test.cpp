// Transformers as problems: parameters against published counts, work against formulas written out, bounds.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/error.hpp"
#include "problem/problem_bound.hpp"

namespace roofline {
namespace {

struct KnownModel {
  const char* name;
  const char* config;
  double parameters;  ///< as published (the sum over the model's safetensors)
  double tolerance = 0;
};

constexpr KnownModel kKnown[] = {
    {"Llama 2 7B", R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
      "intermediate_size": 11008, "vocab_size": 32000, "tie_word_embeddings": false, "torch_dtype": "float16"})",
     6'738'415'616},
    {"Llama 3 8B", R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
      "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "torch_dtype": "bfloat16"})",
     8'030'261'248},
    {"Mixtral 8x7B",
     R"({"model_type": "mixtral", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
      "num_key_value_heads": 8, "intermediate_size": 14336, "num_local_experts": 8, "num_experts_per_tok": 2,
      "vocab_size": 32000})",
     46'702'792'704},
    {"Qwen2.5 7B", R"({"model_type": "qwen2", "hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28,
      "num_key_value_heads": 4, "intermediate_size": 18944, "vocab_size": 152064, "use_sliding_window": false,
      "sliding_window": 131072})",
     7'615'616'512},
    {"Qwen3 8B", R"({"model_type": "qwen3", "hidden_size": 4096, "num_hidden_layers": 36, "num_attention_heads": 32,
      "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 12288, "vocab_size": 151936})",
     8'190'735'360},
    {"Qwen3 30B A3B",
     R"({"model_type": "qwen3_moe", "hidden_size": 2048, "num_hidden_layers": 48, "num_attention_heads": 32,
      "num_key_value_heads": 4, "head_dim": 128, "intermediate_size": 6144, "moe_intermediate_size": 768,
      "num_experts": 128, "num_experts_per_tok": 8, "vocab_size": 151936})",
     30'532'122'624},
    {"Gemma 2 2B", R"({"model_type": "gemma2", "hidden_size": 2304, "num_hidden_layers": 26, "num_attention_heads": 8,
      "num_key_value_heads": 4, "head_dim": 256, "intermediate_size": 9216, "vocab_size": 256000, "sliding_window": 4096})",
     2'614'341'888},
    {"GPT-2", R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024,
      "vocab_size": 50257})",
     124'439'808},
    {"OPT 125M", R"({"model_type": "opt", "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
      "ffn_dim": 3072, "max_position_embeddings": 2048, "vocab_size": 50272})",
     125'239'296},
    {"Falcon 7B", R"({"model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32, "num_attention_heads": 71,
      "multi_query": true, "parallel_attn": true, "bias": false, "vocab_size": 65024})",
     6'921'720'704},
    {"BLOOM 560M", R"({"model_type": "bloom", "hidden_size": 1024, "n_layer": 24, "n_head": 16, "vocab_size": 250880})",
     559'214'592},
    {"MPT 7B", R"({"model_type": "mpt", "d_model": 4096, "n_heads": 32, "n_layers": 32, "expansion_ratio": 4,
      "vocab_size": 50432, "max_seq_len": 2048})",
     6'649'286'656},
    {"GPT-J 6B", R"({"model_type": "gptj", "n_embd": 4096, "n_layer": 28, "n_head": 16, "n_inner": null,
      "vocab_size": 50400, "tie_word_embeddings": false})",
     6'050'882'784},
    {"Command R 35B",
     R"({"model_type": "cohere", "hidden_size": 8192, "num_hidden_layers": 40, "num_attention_heads": 64,
      "num_key_value_heads": 64, "intermediate_size": 22528, "vocab_size": 256000})",
     34'980'831'232},
    {"Minitron 8B",
     R"({"model_type": "nemotron", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 48,
      "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 16384, "hidden_act": "relu2", "vocab_size": 256000})",
     8.27e9, 0.001},
    {"Llama 4 Scout", R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text", "hidden_size": 5120,
      "num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
      "intermediate_size": 8192, "intermediate_size_mlp": 16384, "num_local_experts": 16, "num_experts_per_tok": 1,
      "interleave_moe_layer_step": 1, "attention_chunk_size": 8192, "vocab_size": 202048}})",
     107.77e9, 0.001},
    {"Phi-2", R"({"model_type": "phi", "hidden_size": 2560, "num_hidden_layers": 32, "num_attention_heads": 32,
      "intermediate_size": 10240, "vocab_size": 51200})",
     2'779'683'840},
    {"DeepSeek V3", R"({"model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61,
      "num_attention_heads": 128, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
      "qk_rope_head_dim": 64, "v_head_dim": 128, "intermediate_size": 18432, "moe_intermediate_size": 2048,
      "n_routed_experts": 256, "num_experts_per_tok": 8, "n_shared_experts": 1, "first_k_dense_replace": 3,
      "vocab_size": 129280, "quantization_config": {"quant_method": "fp8"}})",
     671e9, 0.001},
};

const char* config_of(std::string_view name) {
  for (const KnownModel& known : kKnown) {
    if (known.name == name) return known.config;
  }
  return "";
}

Transformer model_of(std::string_view name) { return read_transformer(config_of(name), "config.json"); }

/// A small model, but for these members.
std::string config_with(const char* members) {
  return fmt::format(
      R"({{"num_hidden_layers": 2, "num_attention_heads": 8, "vocab_size": 8, "intermediate_size": 8{}}})", members);
}

const ProblemPhase& phase_named(const BoundProblem& problem, std::string_view name) {
  for (const ProblemPhase& phase : problem.phases) {
    if (phase.name == name) return phase;
  }
  ADD_FAILURE() << "no phase " << name;
  return problem.phases.front();
}

double flops_of(const ProblemPhase& phase) {
  double sum = 0;
  for (const ProblemPart& part : phase.parts) sum += part.times * part.work.total_flops();
  return sum;
}

TEST(Transformers, HaveTheParametersThatArePublished) {
  for (const KnownModel& known : kKnown) {
    const double parameters = read_transformer(known.config, "config.json").parameters();
    EXPECT_LE(std::abs(parameters - known.parameters), known.tolerance * known.parameters)
        << known.name << ": " << fmt::format("{:.0f}", parameters);
  }
}

TEST(Transformers, OfOneKeyValueHeadIgnoreTheOtherCount) {
  // transformers writes the number of heads as "num_kv_heads" of a Falcon 7B, whose attention has one key-value head.
  const char* const members = R"(, "hidden_size": 64, "model_type": "falcon", "num_kv_heads": 8, "multi_query": )";
  const auto kv_heads = [&](const std::string& rest) {
    return read_transformer(config_with((members + rest).c_str()), "config.json").kv_heads;
  };
  EXPECT_EQ(kv_heads("true"), 1);
  EXPECT_EQ(kv_heads("false"), 8);
  EXPECT_EQ(kv_heads(R"(true, "new_decoder_architecture": true)"), 8);
}

TEST(Transformers, OfTheLargerFalconsHaveTwoNormsALayer) {
  const auto parameters = [&](const char* members) {
    return read_transformer(config_with(members), "config.json").parameters();
  };
  const double one = parameters(R"(, "hidden_size": 64, "model_type": "falcon", "multi_query": false)");
  const double two = parameters(R"(, "hidden_size": 64, "model_type": "falcon", "new_decoder_architecture": true)");
  EXPECT_EQ(two - one, 2 * 2 * 64);  // two layers, a norm with scale and offset
}

TEST(Transformers, OfExpertsUseAPart) {
  EXPECT_NEAR(model_of("Mixtral 8x7B").active_parameters() / 12.88e9, 1, 0.001);
  EXPECT_NEAR(model_of("Qwen3 30B A3B").active_parameters() / 3.3e9, 1, 0.02);
  EXPECT_NEAR(model_of("DeepSeek V3").active_parameters() / 37e9, 1, 0.02);
  EXPECT_NEAR(model_of("Llama 4 Scout").active_parameters() / 17e9, 1, 0.02);
}

TEST(Transformers, WeightsHaveTheTypeOfTheFile) {
  EXPECT_EQ(model_of("Llama 2 7B").weights, WeightType::fp16);
  EXPECT_EQ(model_of("Llama 3 8B").weights, WeightType::bf16);
  EXPECT_EQ(model_of("DeepSeek V3").weights, WeightType::fp8);
  EXPECT_FALSE(model_of("Mixtral 8x7B").assumptions.empty()) << "the file names no type";
}

TEST(Inference, PrefillDoesTwoFlopsForAParameterAndToken) {
  const Transformer model = model_of("Llama 3 8B");
  const BoundProblem problem = inference_of(model, {.batch = 2, .prompt = 1024, .context = 1024});
  const double matrices = 32 * (model.attention_parameters() + model.mlp_parameters());
  // Causal: a query sees the keys up to its own. Head: the last token of each sequence.
  const double attention = 32.0 * 2 * 32 * (1024.0 * 1025 / 2) * 4 * 128;
  const double head = 2.0 * 2 * 4096 * 128256;
  EXPECT_NEAR(flops_of(phase_named(problem, "prefill")), 2.0 * 2048 * matrices + attention + head, 1e3);
}

TEST(Inference, DecodeMovesWeightsAndCacheOnce) {
  const Transformer model = model_of("Llama 3 8B");
  const BoundProblem problem = inference_of(model, {.batch = 4, .prompt = 100, .context = 1000});
  const ProblemPhase& decode = phase_named(problem, "decode");
  const Traffic traffic = decode.fused->bytes.at(Level::hbm);
  const double weights = 2 * (32 * (model.attention_parameters() + model.mlp_parameters()) + 4096.0 * 128256);
  const double token = 2.0 * 2 * 8 * 128 * 32;  // bytes of a token's keys and values in all layers
  EXPECT_NEAR(traffic.read, weights + 4 * 1000 * token + 4 * 4096 * 2, 1);
  EXPECT_NEAR(traffic.write, 4 * token, 1);
  EXPECT_NEAR(problem.cache_per_sequence, 1001 * token, 1);
}

TEST(Inference, AWindowLimitsKeysAndCache) {
  const Transformer model = model_of("Gemma 2 2B");
  EXPECT_EQ(model.windowed_layers, 13);
  const BoundProblem problem = inference_of(model, {.batch = 1, .prompt = 8192, .context = 8192});
  const double token = 2.0 * 2 * 4 * 256;
  EXPECT_NEAR(problem.cache_per_sequence, token * (13 * 8193.0 + 13 * 4096.0), 1);
  const ProblemPhase& prefill = phase_named(problem, "prefill");
  double whole = 0, windowed = 0;
  for (const ProblemPart& part : prefill.parts) {
    if (part.name == "attention") whole = part.work.total_flops();
    if (part.name == "attention in a window") windowed = part.work.total_flops();
  }
  double pairs = 0;
  for (int query = 1; query <= 8192; ++query) pairs += std::min(query, 4096);
  EXPECT_NEAR(windowed, pairs * 8 * 4 * 256, 1);
  EXPECT_NEAR(whole, 8192.0 * 8193 / 2 * 8 * 4 * 256, 1);
}

TEST(Inference, ADecodeStepReadsTheExpertsThatItsTokensChoose) {
  const Transformer model = model_of("Mixtral 8x7B");
  const auto read_by = [&](std::int64_t batch) {
    const BoundProblem problem = inference_of(model, {.batch = batch, .prompt = 1, .context = 1});
    return phase_named(problem, "decode").fused->bytes.at(Level::hbm).read;
  };
  EXPECT_NEAR((read_by(1) - 2 * (model.active_parameters() - model.head_parameters())) / read_by(1), 0, 0.001);
  EXPECT_NEAR(read_by(512) / (2 * model.parameters()), 1, 0.01) << "with many tokens all are read";
}

TEST(Inference, TensorParallelSharesWorkAndSendsMessages) {
  const Transformer model = model_of("Llama 3 8B");
  const BoundProblem one = inference_of(model, {.batch = 8});
  const BoundProblem two = inference_of(model, {.batch = 8, .tensor_parallel = 2});
  EXPECT_NEAR(flops_of(phase_named(two, "decode")) / flops_of(phase_named(one, "decode")), 0.5, 1e-9);
  EXPECT_NEAR(two.memory->weights / one.memory->weights, 0.5, 0.01);
  EXPECT_FALSE(phase_named(one, "decode").messages);
  const double bytes = 8.0 * 4096 * 2;  // bus bandwidth counts 2 (n - 1) / n of them
  EXPECT_NEAR(phase_named(two, "decode").messages->bytes.at(Level::network).total(), 64 * bytes, 1);
}

TEST(Inference, EachGpuHasNormsRouterAndLatents) {
  const Transformer model = model_of("DeepSeek V3");
  const Inference inference{.weights = WeightType::fp8};
  const double tied_to_vocabulary = 2 * 129280.0 * 7168;
  const double latents = 61 * 7168.0 * (1536 + 512 + 64), router = 58 * 256.0 * 7168;
  const double norms = (61 * 2 + 1) * 7168.0 + 61 * (1536.0 + 512);
  const double one = inference_of(model, inference).memory->weights;
  EXPECT_NEAR(one, model.parameters() + tied_to_vocabulary + router + norms, 1) << "those are of 16 bits";
  Inference eight = inference;
  eight.tensor_parallel = 8;
  const double of_eight = inference_of(model, eight).memory->weights;
  EXPECT_NEAR(of_eight, one / 8 + 7.0 / 8 * (latents + 2 * (router + norms)), 1);
  EXPECT_NEAR(of_eight, 85.1e9, 0.1e9);
}

TEST(Inference, GpusBeyondTheHeadsOfKeysHaveTheSameOnes) {
  const Transformer model = model_of("Llama 3 8B");
  const double norms = 65 * 4096.0, key_value = 2 * 32 * 8 * 128 * 4096.0;
  const auto weights = [&](std::int64_t ranks) {
    return inference_of(model, {.tensor_parallel = ranks}).memory->weights;
  };
  const double divided = model.parameters() - norms - key_value;
  EXPECT_NEAR(weights(8), 2 * (norms + (divided + key_value) / 8), 1);
  EXPECT_NEAR(weights(16), 2 * (norms + divided / 16 + key_value / 8), 1);
}

Machine fast_machine() {
  Machine machine;
  machine.device.kind = DeviceKind::cuda;
  machine.device.name = "GPU";
  Ceiling memory;
  memory.name = "hbm.read";
  memory.kind = CeilingKind::bandwidth;
  memory.level = Level::hbm;
  memory.pattern = Pattern::read;
  memory.value = 1e12;
  memory.ci95 = {1e12, 1e12};
  Ceiling compute;
  compute.name = "tensor.bf16";
  compute.kind = CeilingKind::compute;
  compute.pipe = Pipe::tensor_bf16;
  compute.value = 1e15;
  compute.ci95 = {1e15, 1e15};
  machine.ceilings = {memory, compute};
  return machine;
}

TEST(ProblemBounds, DecodeIsBoundByMemoryAndPrefillByProducts) {
  const BoundProblem problem = inference_of(model_of("Llama 3 8B"), {.batch = 1, .prompt = 4096, .context = 4096});
  const ProblemBound bound = bound_problem(problem, fast_machine());
  EXPECT_EQ(bound.phases[0].fused->label, BoundLabel::compute);
  EXPECT_EQ(bound.phases[1].fused->label, BoundLabel::memory);
  const Traffic traffic = problem.phases[1].fused->bytes.at(Level::hbm);
  EXPECT_NEAR(bound.phases[1].least_s, traffic.total() / 1e12, 1e-9);
  for (const PhaseBound& phase : bound.phases) EXPECT_GT(phase.by_op_s, phase.least_s);
  EXPECT_EQ(bound.phases[1].fused_work->bytes.at(Level::hbm).total(), traffic.total());
}

TEST(ProblemBounds, ProductsOfTypesWithoutAUnitAreBoundByTheNextWider) {
  const BoundProblem problem = inference_of(model_of("DeepSeek V3"), {.batch = 1, .weights = WeightType::fp8});
  const ProblemBound bound = bound_problem(problem, fast_machine());
  EXPECT_TRUE(std::isfinite(bound.phases[0].least_s));
  EXPECT_EQ(bound.notes.size(), problem.notes.size() + 1);
}

TEST(ProblemBounds, WithoutRoofsThereIsNoTime) {
  Machine machine;
  machine.device.kind = DeviceKind::cuda;
  const ProblemBound bound = bound_problem(inference_of(model_of("GPT-2"), {}), machine);
  EXPECT_TRUE(std::isnan(bound.phases[0].least_s));
}

TEST(ProblemBounds, ATimeBelowTheBoundIsImpossible) {
  const ProblemBound bound = bound_problem(inference_of(model_of("Llama 3 8B"), {}), fast_machine());
  const PhaseBound& decode = bound.phases[1];
  EXPECT_NEAR(score_of(decode.least_s, 2 * decode.least_s).share, 0.5, 1e-9);
  EXPECT_TRUE(score_of(decode.least_s, 2 * decode.least_s).possible);
  EXPECT_TRUE(score_of(decode.least_s, 0.99 * decode.least_s).possible) << "roofs are not exact";
  EXPECT_FALSE(score_of(decode.least_s, 0.9 * decode.least_s).possible);
}

TEST(Transformers, RefuseWhatTheyAreNot) {
  EXPECT_NO_THROW(read_transformer(config_with(R"(, "hidden_size": 64, "layer_types": ["full_attention"])"), "c.json"));
  for (const char* members : {
           R"()",
           R"(, "hidden_size": 64, "model_type": "t5")",
           R"(, "hidden_size": -4)",
           R"(, "hidden_size": 1e99)",
           R"(, "hidden_size": "64")",
           R"(, "hidden_size": 4)",
           R"(, "hidden_size": 64, "num_key_value_heads": 3)",
           R"(, "hidden_size": 64, "num_experts": 4, "num_experts_per_tok": 5)",
           R"(, "hidden_size": 64, "layer_types": ["linear_attention", "full_attention"])",
           R"(, "hidden_size": 64, "mamba_d_state": 16)",
       }) {
    EXPECT_THROW(read_transformer(config_with(members), "c.json"), UsageError) << members;
  }
  for (const char* text : {"", "[]", "{"}) EXPECT_THROW(read_transformer(text, "c.json"), UsageError) << text;
}

/// Without a roof of collectives their launch is no bound of them: they have no time, and a note says so.
TEST(ProblemBounds, MessagesWithoutARoofHaveNoTime) {
  const BoundProblem problem = inference_of(model_of("Llama 3 8B"), {.batch = 8, .tensor_parallel = 2});
  Machine machine = fast_machine();
  Ceiling launch;
  launch.name = "launch.graph";
  launch.kind = CeilingKind::overhead;
  launch.value = 1e6;
  launch.ci95 = {1e6, 1e6};
  machine.ceilings.push_back(launch);
  const ProblemBound alone = bound_problem(problem, machine);
  EXPECT_FALSE(alone.phases.at(0).messages_s);
  EXPECT_TRUE(std::isfinite(alone.phases.at(0).by_op_s)) << "of the other parts";
  EXPECT_THAT(alone.notes, testing::Contains(testing::HasSubstr("collectives")));
  Ceiling link;
  link.name = "nccl.all_reduce";
  link.kind = CeilingKind::bandwidth;
  link.level = Level::network;
  link.value = 3e11;
  link.ci95 = {3e11, 3e11};
  machine.ceilings.push_back(link);
  const ProblemBound linked = bound_problem(problem, machine);
  EXPECT_TRUE(linked.phases.at(0).messages_s);
  EXPECT_THAT(linked.notes, testing::Not(testing::Contains(testing::HasSubstr("collectives"))));
}

}  // namespace
}  // namespace roofline
