"""Beam-search decoding with a recurrent decoder; one step is one output token."""
import os
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

SECONDS = float(os.environ.get("SECONDS_OF_WORK", "6"))
FIXED = os.environ.get("FIXED") == "1"
SENTENCES, BEAMS, WIDTH, VOCAB, LENGTH = 256, 8, 2048, 32_000, 48
ROWS = SENTENCES * BEAMS


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.cells = nn.ModuleList(nn.GRUCell(WIDTH, WIDTH) for _ in range(3))
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, tokens, states):
        x, new = self.embed(tokens), []
        for cell, state in zip(self.cells, states.unbind(0)):
            x = cell(x, state)
            new.append(x)
        return F.log_softmax(self.head(x), dim=-1), torch.stack(new)


def select_on_device(top, ids, scores):
    total = (scores.unsqueeze(1) + top).view(SENTENCES, BEAMS * BEAMS)
    scores, flat = total.topk(BEAMS, dim=1)
    origin = flat // BEAMS + torch.arange(SENTENCES, device="cuda").unsqueeze(1) * BEAMS
    return ids.view(SENTENCES, -1).gather(1, flat).view(-1), origin.view(-1), scores.view(-1)


def select_beams(top, ids, scores):
    if FIXED:
        return select_on_device(top, ids, scores)
    top, ids, scores = top.tolist(), ids.tolist(), scores.tolist()  # FAULT
    tokens, origin, kept = [], [], []
    for s in range(SENTENCES):
        candidates = []
        for row in range(s * BEAMS, (s + 1) * BEAMS):  # FAULT
            for value, token in zip(top[row], ids[row]):  # FAULT
                candidates.append((scores[row] + value, token, row))  # FAULT
        candidates.sort(reverse=True)  # FAULT
        for value, token, row in candidates[:BEAMS]:  # FAULT
            tokens.append(token)
            origin.append(row)
            kept.append(value)
    return (torch.tensor(tokens, device="cuda"), torch.tensor(origin, device="cuda"),  # FAULT
            torch.tensor(kept, device="cuda"))  # FAULT


def decode_step(model, tokens, states, scores):
    logp, states = model(tokens, states)
    top, ids = logp.topk(BEAMS, dim=-1)
    tokens, origin, scores = select_beams(top.float(), ids, scores)  # FAULT
    return tokens, states[:, origin], scores


def start():
    return (torch.ones(ROWS, dtype=torch.long, device="cuda"),
            torch.randn(3, ROWS, WIDTH, device="cuda", dtype=torch.bfloat16),
            torch.zeros(ROWS, device="cuda"))


@torch.inference_mode()
def main():
    torch.manual_seed(0)
    model = Decoder().to("cuda", torch.bfloat16).eval()
    beam = start()
    for _ in range(5):
        beam = decode_step(model, *beam)
    torch.cuda.synchronize()
    begin, step, beam = time.time(), 0, start()
    while time.time() - begin < SECONDS:
        beam = decode_step(model, *beam)
        step += 1
        if step % LENGTH == 0:
            print(f"step {step} best score {beam[2].max().item():.3f}")
            beam = start()
    torch.cuda.synchronize()
    print(f"steps {step} in {time.time() - begin:.3f} s", flush=True)


if __name__ == "__main__":
    main()
