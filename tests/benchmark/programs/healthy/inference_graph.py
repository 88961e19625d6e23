"""A server: pinned requests and results, a CUDA graph, and two batches in flight."""
import torch
from torch import nn

from models import transformer
from workload import steps

BATCH, TOKENS, WIDTH, WORDS = 16, 512, 1024, 32000

torch.backends.mha.set_fastpath_enabled(False)


class Server:
    def __init__(self, model):
        self.tokens = torch.zeros(BATCH, TOKENS, dtype=torch.int64, device="cuda")
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            model(self.tokens)
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.scores = model(self.tokens).mean(dim=1)
        self.results = [torch.empty(BATCH, WIDTH, dtype=torch.bfloat16).pin_memory() for _ in range(2)]
        self.done = [torch.cuda.Event() for _ in range(2)]

    def submit(self, number, request):
        """Waits for the batch before the last one and replaces its result; the GPU works on the last one meanwhile."""
        slot = number % 2
        self.done[slot].synchronize()
        answer = self.results[slot][:, 0].tolist()
        self.tokens.copy_(request, non_blocking=True)
        self.graph.replay()
        self.results[slot].copy_(self.scores, non_blocking=True)
        self.done[slot].record()
        return answer


def main():
    model = nn.Sequential(nn.Embedding(WORDS, WIDTH).cuda().to(torch.bfloat16), transformer(WIDTH, 8)).eval()
    requests = [torch.randint(WORDS, (BATCH, TOKENS)).pin_memory() for _ in range(16)]
    with torch.inference_mode():
        server = Server(model)
        for step in steps(torch.cuda.synchronize):
            server.submit(step, requests[step % len(requests)])


if __name__ == "__main__":
    main()
