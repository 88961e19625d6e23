"""Every batch is requested from a server on another machine (here: a process that takes 15 ms), and then waited for."""
import socket
import subprocess
import sys

import torch

from models import mlp
from workload import steps

FEATURES = 1024
BATCH_BYTES = 4 << 20

SERVER = """
import os, socket, time
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
connection = listener.accept()[0]
samples = os.urandom(int(%d))
while connection.recv(1):
    time.sleep(0.015)
    connection.sendall(samples)
""" % BATCH_BYTES


def fetch_batch(connection, view):
    connection.sendall(b"n")
    received = 0
    while received < BATCH_BYTES:
        received += connection.recv_into(view[received:])  # FAULT


def train_step(model, optimizer, batch):
    loss = model(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = mlp(FEATURES, 4)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, fused=True)
    staging = torch.empty(BATCH_BYTES, dtype=torch.uint8).pin_memory()
    view = memoryview(staging.numpy())
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    connection = socket.create_connection(("127.0.0.1", int(server.stdout.readline())))
    for _ in steps(torch.cuda.synchronize):
        fetch_batch(connection, view)
        batch = staging.to("cuda").view(-1, FEATURES).float() / 255
        train_step(model, optimizer, batch)
    connection.close()
    server.wait()


if __name__ == "__main__":
    main()
