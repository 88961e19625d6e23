"""A transformer's gradients are reduced in buckets while the backward pass runs."""
import torch
from torch import nn

from job import parallel, start, steps


def main():
    start()
    layer = nn.TransformerEncoderLayer(1024, 16, 4096, dropout=0, batch_first=True)
    model = parallel(nn.TransformerEncoder(layer, 6).cuda(), gradient_as_bucket_view=True)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    inputs = torch.randn(96, 512, 1024, device="cuda")
    for _ in steps():
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(inputs).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
