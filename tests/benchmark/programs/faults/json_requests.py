"""A server parses the JSON of its requests in the loop that runs the model."""
import json
import random

import torch

from models import mlp
from workload import steps

REQUESTS, FEATURES = 128, 512


def parse_requests(texts, staging):
    for row, text in enumerate(texts):
        staging[row] = torch.tensor(json.loads(text)["features"])  # FAULT


def make_requests():
    return [json.dumps({"user": row, "features": [random.random() for _ in range(FEATURES)]})
            for row in range(REQUESTS)]


def main():
    model = mlp(FEATURES, 6)
    requests = [make_requests() for _ in range(4)]
    staging = torch.empty(REQUESTS, FEATURES).pin_memory()
    with torch.inference_mode():
        for step in steps(torch.cuda.synchronize):
            parse_requests(requests[step % len(requests)], staging)
            model(staging.to("cuda"))


if __name__ == "__main__":
    main()
