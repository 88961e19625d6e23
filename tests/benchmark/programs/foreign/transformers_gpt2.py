"""Language-model training of GPT-2 small from its configuration, on random tokens."""
import torch
from torch.optim.lr_scheduler import LambdaLR
from transformers import GPT2Config, GPT2LMHeadModel


def main():
    torch.manual_seed(0)
    config = GPT2Config()
    model = GPT2LMHeadModel(config).to("cuda")
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
    scheduler = LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 10))
    tokens = torch.randint(0, config.vocab_size, (64, 512))

    running = 0.0
    for step in range(60):
        input_ids = tokens[step * 4 % 64:step * 4 % 64 + 4].to("cuda")
        with torch.autocast("cuda", dtype=torch.bfloat16):
            outputs = model(input_ids=input_ids, labels=input_ids)
        outputs.loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        running += outputs.loss.item()
        if step % 10 == 9:
            print(f"step {step + 1} loss {running / 10:.3f}")
            running = 0.0


if __name__ == "__main__":
    main()
