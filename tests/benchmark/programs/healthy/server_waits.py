"""A server of a language model: a client sends its next request after 40 ms on average, and the GPU waits for it."""
import socket
import subprocess
import sys

import numpy as np
import torch
from torch import nn

from models import transformer
from workload import steps

TEXTS, TOKENS, WIDTH, WORDS = 32, 512, 1024, 32000
REQUEST_BYTES = TEXTS * TOKENS * 4

CLIENT = """
import os, random, socket, sys, time
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
try:
    connection.sendall(os.urandom(%d))
    while connection.recv(4096):
        time.sleep(random.expovariate(1 / 0.04))
        connection.sendall(os.urandom(%d))
except OSError:
    pass  # the server has ended
""" % (REQUEST_BYTES, REQUEST_BYTES)


def receive(connection, view):
    received = 0
    while received < REQUEST_BYTES:
        received += connection.recv_into(view[received:])


def answer(model, request, tokens):
    np.remainder(request, WORDS, out=tokens.numpy().reshape(-1), casting="unsafe")
    scores = model(tokens.to("cuda", non_blocking=True))[:, -1].float().mean(dim=1)
    return scores.cpu().numpy().tobytes()


def main():
    model = nn.Sequential(nn.Embedding(WORDS, WIDTH).cuda().to(torch.bfloat16), transformer(WIDTH, 8))
    request = bytearray(REQUEST_BYTES)
    tokens = torch.empty(TEXTS, TOKENS, dtype=torch.int64, pin_memory=True)
    listener = socket.create_server(("127.0.0.1", 0))
    client = subprocess.Popen([sys.executable, "-c", CLIENT, str(listener.getsockname()[1])])
    connection = listener.accept()[0]
    with torch.inference_mode():
        for _ in steps(torch.cuda.synchronize):
            receive(connection, memoryview(request))
            connection.sendall(answer(model, np.frombuffer(request, dtype=np.uint32), tokens))
    connection.close()
    client.wait()


if __name__ == "__main__":
    main()
