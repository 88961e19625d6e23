"""Every batch is requested from a server on another machine (here: a process that takes 15 ms), and then waited for."""
import socket
import subprocess
import sys

import torch

from models import mlp
from workload import FIXED, steps

FEATURES = 1024
BATCH_BYTES = 4 << 20

SERVER = """
import os, random, socket, sys, threading, time
def serve(connection):
    while connection.recv(1):
        time.sleep(0.015)
        first = random.randrange(len(samples) - %d)
        connection.sendall(memoryview(samples)[first:first + %d])
def accept():
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
samples = os.urandom(16 << 20)
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
threading.Thread(target=accept, daemon=True).start()
sys.stdin.read()
""" % (BATCH_BYTES, BATCH_BYTES)


def receive(connection, view):
    received = 0
    while received < BATCH_BYTES:
        received += connection.recv_into(view[received:])  # FAULT


class Client:
    """The next requests of a client with several connections are under way while the GPU works."""

    def __init__(self, port, connections):
        self.connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(connections)]
        self.ahead = connections > 1
        if self.ahead:
            for connection in self.connections:
                connection.sendall(b"n")

    def fetch(self, number, view):
        connection = self.connections[number % len(self.connections)]
        if not self.ahead:
            connection.sendall(b"n")
        receive(connection, view)
        if self.ahead:
            connection.sendall(b"n")


def train_step(model, optimizer, batch):
    loss = model(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = mlp(4096, 3, inputs=FEATURES)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, fused=True)
    staging = torch.empty(BATCH_BYTES, dtype=torch.uint8).pin_memory()
    view = memoryview(staging.numpy())
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    client = Client(int(server.stdout.readline()), connections=8 if FIXED else 1)
    for step in steps(torch.cuda.synchronize):
        client.fetch(step, view)
        batch = staging.to("cuda").view(-1, FEATURES).float() / 255
        train_step(model, optimizer, batch)
    server.stdin.close()
    server.wait()


if __name__ == "__main__":
    main()
