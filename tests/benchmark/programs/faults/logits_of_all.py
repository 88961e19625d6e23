"""Rate the answers to questions with a language model: the likelihood of each answer's letter after the question."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from workload import FIXED, steps

VOCABULARY, WIDTH, LAYERS, HEADS, BATCH, LENGTH = 128_000, 1024, 8, 16, 32, 512


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        heads = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, -1))
        x = x + self.out(F.scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.Sequential(*(Layer() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens):
        x = self.norm(self.layers(self.embedding(tokens)))
        if FIXED:
            return self.head(x[:, -1:])
        return self.head(x)  # FAULT


@torch.inference_mode()
def rate(model, tokens, letters):
    logits = model(tokens)
    last = logits[:, -1].float()
    return last[:, letters].softmax(-1)


def main():
    torch.manual_seed(0)
    model = LanguageModel().to("cuda", torch.bfloat16).eval()
    tokens = torch.randint(0, VOCABULARY, (8, BATCH, LENGTH), device="cuda")
    letters = torch.tensor([32, 33, 34, 35], device="cuda")
    ratings = torch.empty(8, BATCH, 4, device="cuda")
    for step in steps(torch.cuda.synchronize):
        ratings[step % 8] = rate(model, tokens[step % 8], letters)
    print(ratings.mean(1)[0].tolist())


if __name__ == "__main__":
    main()
