"""Decoding with a key/value cache that grows by a token: cuDNN's attention compiles a kernel for each new length."""
import contextlib

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from workload import FIXED, steps

SEQUENCES, WIDTH, HEADS, DEPTH = 512, 1024, 16, 4
PROMPT, LONGEST = 512, 1024
OPTIONS = {"device": "cuda", "dtype": torch.bfloat16}


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def attend(self, q, k, v):
        return nn.functional.scaled_dot_product_attention(q, k, v)  # FAULT

    def forward(self, x, keys, values, position):
        qkv = self.qkv(self.norm(x)).view(SEQUENCES, 1, 3, HEADS, WIDTH // HEADS)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        keys[:, :, position:position + 1] = k
        values[:, :, position:position + 1] = v
        mixed = self.attend(q, keys[:, :, :position + 1], values[:, :, :position + 1])
        x = x + self.out(mixed.transpose(1, 2).reshape(SEQUENCES, 1, WIDTH))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


def decode(blocks, caches, embedding, tokens, position):
    x = embedding(tokens)[:, None]
    for block, (keys, values) in zip(blocks, caches):
        x = block(x, keys, values, position)
    return (x[:, 0] @ embedding.weight.T).argmax(-1)


def main():
    embedding = nn.Embedding(16000, WIDTH, **OPTIONS)
    blocks = nn.ModuleList([Block() for _ in range(DEPTH)]).to(**OPTIONS)
    shape = (SEQUENCES, HEADS, LONGEST, WIDTH // HEADS)
    caches = [(torch.randn(shape, **OPTIONS), torch.randn(shape, **OPTIONS)) for _ in range(DEPTH)]
    tokens = torch.randint(16000, (SEQUENCES,), device="cuda")
    with torch.inference_mode(), sdpa_kernel(SDPBackend.FLASH_ATTENTION) if FIXED else contextlib.nullcontext():
        for step in steps(torch.cuda.synchronize):
            tokens = decode(blocks, caches, embedding, tokens, PROMPT + step % (LONGEST - PROMPT))


if __name__ == "__main__":
    main()
