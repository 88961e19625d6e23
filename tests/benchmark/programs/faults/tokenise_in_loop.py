"""Texts are split into word pieces in pure Python, in the process that runs the model."""
import random
import re
import string

import torch
from torch import nn

from loading import load_ahead, load_now
from models import transformer
from workload import FIXED, steps

TEXTS, TOKENS, WIDTH = 64, 512, 1024
LETTERS = string.ascii_lowercase
PIECES = {"".join(random.choices(LETTERS, k=length)) for length in (2, 3, 4) for _ in range(4000)} | set(LETTERS)
VOCABULARY = {piece: number for number, piece in enumerate(sorted(PIECES), 1)}


def word_pieces(word):
    pieces, first = [], 0
    while first < len(word):
        last = min(len(word), first + 4)
        while word[first:last] not in VOCABULARY:  # FAULT
            last -= 1  # FAULT
        pieces.append(VOCABULARY[word[first:last]])  # FAULT
        first = last
    return pieces


def tokenise(texts):
    rows = torch.zeros(len(texts), TOKENS, dtype=torch.int64)
    for row, text in zip(rows, texts):
        words = re.findall(r"[a-z]+", text.lower())  # FAULT
        pieces = [piece for word in words for piece in word_pieces(word)][:TOKENS]  # FAULT
        row[:len(pieces)] = torch.tensor(pieces)
    return rows


def make_texts():
    return [" ".join("".join(random.choices(LETTERS, k=random.randint(3, 10))) for _ in range(400))
            for _ in range(TEXTS)]


def main():
    model = nn.Sequential(nn.Embedding(len(VOCABULARY) + 1, WIDTH).cuda().to(torch.bfloat16), transformer(WIDTH, 6))
    batches = (load_ahead if FIXED else load_now)(tokenise, [make_texts() for _ in range(8)])
    with torch.inference_mode():
        for _ in steps(torch.cuda.synchronize):
            model(next(batches).to("cuda"))


if __name__ == "__main__":
    main()
