"""Large products in bf16."""
import torch

from workload import steps


def main():
    a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    c = torch.empty_like(a)
    for _ in steps(torch.cuda.synchronize):
        torch.matmul(a, b, out=c)


if __name__ == "__main__":
    main()
