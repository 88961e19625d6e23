"""A server parses the JSON of its requests in the loop that runs the model."""
import json
import random

import torch

from loading import load_ahead, load_now
from models import mlp
from workload import FIXED, steps

REQUESTS, FEATURES = 512, 128


def parse_requests(texts):
    rows = [torch.tensor(json.loads(text)["features"]) for text in texts]  # FAULT
    return torch.stack(rows)


def make_requests():
    return [json.dumps({"user": row, "features": [random.random() for _ in range(FEATURES)]})
            for row in range(REQUESTS)]


def main():
    model = mlp(8192, 16, inputs=FEATURES)
    batches = (load_ahead if FIXED else load_now)(parse_requests, [make_requests() for _ in range(4)])
    with torch.inference_mode():
        for _ in steps(torch.cuda.synchronize):
            model(next(batches).to("cuda"))


if __name__ == "__main__":
    main()
