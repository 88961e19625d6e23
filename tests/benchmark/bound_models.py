"""Models of transformers, with the steps that bounds_against_counts.py compares."""
import dataclasses


@dataclasses.dataclass
class Model:
    """`prefill` is (sequences, tokens), `decode` (sequences, tokens in the cache); () where bound and program differ by design."""
    config: dict
    prefill: tuple = (2, 2048)
    decode: tuple = (64, 2048)
    measured: tuple = ()  # phases of a run without --only
    counted_on: str = "meta"


LLAMA = dict(hidden_size=4096, num_hidden_layers=8, num_attention_heads=32, num_key_value_heads=8, intermediate_size=14336,
             vocab_size=32000, max_position_embeddings=8192)
MOE = dict(hidden_size=2048, num_attention_heads=16, num_key_value_heads=4, vocab_size=32000)
LATENT = dict(hidden_size=2048, num_hidden_layers=8, num_attention_heads=16, num_key_value_heads=16, kv_lora_rank=512,
              qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128, intermediate_size=8192, moe_intermediate_size=1408,
              n_routed_experts=32, num_experts_per_tok=4, n_shared_experts=1, first_k_dense_replace=1, n_group=1, topk_group=1,
              vocab_size=32000)
SMALL = dict(hidden_size=1024, num_hidden_layers=4, num_attention_heads=16, vocab_size=32000)
SMALL_GPT = dict(n_embd=1024, n_layer=4, n_head=16, n_positions=2048, vocab_size=32000)

MODELS = {
    "llama": Model(dict(LLAMA, model_type="llama"), decode=(96, 4096), measured=("prefill", "decode")),
    "mistral": Model(dict(LLAMA, model_type="mistral", sliding_window=4096), decode=(192, 2048), measured=("prefill",)),
    "qwen3": Model(dict(model_type="qwen3", hidden_size=2560, num_hidden_layers=12, num_attention_heads=32, num_key_value_heads=8,
                        head_dim=128, intermediate_size=9728, vocab_size=32000, tie_word_embeddings=True),
                   decode=(128, 2048), measured=("decode",)),
    "gpt_neox": Model(dict(model_type="gpt_neox", hidden_size=4096, num_hidden_layers=8, num_attention_heads=32,
                           intermediate_size=16384, vocab_size=50432), decode=(48, 2047), measured=("prefill",)),
    "mixtral": Model(dict(MOE, model_type="mixtral", num_hidden_layers=4, intermediate_size=7168, num_local_experts=8,
                          num_experts_per_tok=2), prefill=(16, 2048), decode=(384, 4096), measured=("prefill", "decode")),
    "qwen3_moe": Model(dict(MOE, model_type="qwen3_moe", num_hidden_layers=8, head_dim=128, intermediate_size=6144,
                            moe_intermediate_size=768, num_experts=64, num_experts_per_tok=8), prefill=(16, 2048), decode=(256, 2048)),
    "gemma2": Model(dict(model_type="gemma2", hidden_size=2304, num_hidden_layers=12, num_attention_heads=8, num_key_value_heads=4,
                         head_dim=256, intermediate_size=9216, vocab_size=32000, sliding_window=4096, attn_logit_softcapping=None,
                         final_logit_softcapping=None), decode=(64, 4000), measured=("prefill",)),
    "phi": Model(dict(model_type="phi", hidden_size=2560, num_hidden_layers=16, num_attention_heads=32, intermediate_size=10240,
                      vocab_size=51200), decode=(64, 2047), measured=("decode",)),
    # A decode step of transformers caches the keys and values of all heads; the bound is of cached latents.
    "deepseek_v3": Model(dict(LATENT, model_type="deepseek_v3", q_lora_rank=768), prefill=(8, 2048), decode=(), measured=("prefill",)),
    # Windows shorter than the sequence: PyTorch computes the masked pairs as well, so that only FLOPs are of interest.
    "mistral-window": Model(dict(SMALL, model_type="mistral", num_key_value_heads=4, intermediate_size=4096, sliding_window=512)),
    "gemma2-window": Model(dict(SMALL, model_type="gemma2", num_key_value_heads=4, head_dim=128, intermediate_size=4096,
                                sliding_window=512)),
    "gemma3_text": Model(dict(SMALL, model_type="gemma3_text", num_hidden_layers=12, num_key_value_heads=4, head_dim=128,
                              intermediate_size=4096, sliding_window=512)),
    "cohere2": Model(dict(SMALL, model_type="cohere2", num_hidden_layers=8, num_key_value_heads=4, intermediate_size=4096, sliding_window=512)),
    "cohere": Model(dict(SMALL, model_type="cohere", num_key_value_heads=4, intermediate_size=4096)),
    "gemma": Model(dict(SMALL, model_type="gemma", num_key_value_heads=4, head_dim=128, intermediate_size=4096)),
    "qwen2": Model(dict(SMALL, model_type="qwen2", num_key_value_heads=4, intermediate_size=4096)),
    "qwen2_moe": Model(dict(SMALL, model_type="qwen2_moe", num_key_value_heads=4, intermediate_size=4096, moe_intermediate_size=512,
                            shared_expert_intermediate_size=1024, num_experts=16, num_experts_per_tok=4)),
    "phi3": Model(dict(SMALL, model_type="phi3", num_key_value_heads=4, intermediate_size=4096, pad_token_id=0)),
    "granite": Model(dict(SMALL, model_type="granite", num_key_value_heads=4, intermediate_size=4096)),
    "nemotron": Model(dict(SMALL, model_type="nemotron", num_key_value_heads=4, intermediate_size=4096)),
    "starcoder2": Model(dict(SMALL, model_type="starcoder2", num_key_value_heads=4, intermediate_size=4096)),
    # Its forward reads values of the mask, so that it needs data.
    "opt": Model(dict(SMALL, model_type="opt", ffn_dim=4096, word_embed_proj_dim=1024, max_position_embeddings=4096),
                 prefill=(1, 128), decode=(2, 128), counted_on="cpu"),
    "gpt2": Model(dict(SMALL_GPT, model_type="gpt2"), decode=(64, 2047)),
    "gpt_bigcode": Model(dict(SMALL_GPT, model_type="gpt_bigcode"), decode=(64, 2047)),
    "gptj": Model(dict(SMALL_GPT, model_type="gptj", rotary_dim=32), decode=(64, 2047)),
    "bloom": Model(dict(model_type="bloom", hidden_size=1024, n_layer=4, n_head=16, vocab_size=32000)),
    "mpt": Model(dict(model_type="mpt", d_model=1024, n_layers=4, n_heads=16, vocab_size=32000, max_seq_len=4096)),
    "falcon": Model(dict(SMALL, model_type="falcon")),
    "falcon-new": Model(dict(SMALL, model_type="falcon", new_decoder_architecture=True, num_kv_heads=4)),
    # transformers multiplies all tokens by all experts of a Llama 4, so that here each token chooses all.
    "llama4_text": Model(dict(SMALL, model_type="llama4_text", num_key_value_heads=4, head_dim=64, intermediate_size=1024,
                              intermediate_size_mlp=2048, num_local_experts=4, num_experts_per_tok=4, interleave_moe_layer_step=2)),
    "gpt_oss": Model(dict(SMALL, model_type="gpt_oss", num_key_value_heads=4, head_dim=64, intermediate_size=1024, num_local_experts=8,
                          num_experts_per_tok=2, sliding_window=512)),
    "deepseek_v2": Model(dict(LATENT, model_type="deepseek_v2", q_lora_rank=None), decode=()),
    "olmo2": Model(dict(SMALL, model_type="olmo2", num_key_value_heads=4, intermediate_size=4096)),
    "glm4": Model(dict(SMALL, model_type="glm4", pad_token_id=0, num_key_value_heads=4, head_dim=64, intermediate_size=4096)),
    "glm4_moe": Model(dict(SMALL, model_type="glm4_moe", num_key_value_heads=4, head_dim=64, intermediate_size=4096,
                           moe_intermediate_size=512, n_routed_experts=16, num_experts_per_tok=4, n_group=1, topk_group=1)),
    "smollm3": Model(dict(SMALL, model_type="smollm3", num_key_value_heads=4, intermediate_size=4096, pad_token_id=0)),
    "stablelm": Model(dict(SMALL, model_type="stablelm", num_key_value_heads=4, intermediate_size=4096)),
    "olmoe": Model(dict(SMALL, model_type="olmoe", num_key_value_heads=4, intermediate_size=512, num_experts=16, num_experts_per_tok=4)),
    "granitemoe": Model(dict(SMALL, model_type="granitemoe", num_key_value_heads=4, intermediate_size=512, num_local_experts=16,
                             num_experts_per_tok=4)),
}
