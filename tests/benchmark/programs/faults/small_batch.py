"""Features of audio, four clips per call: kernels that work clip by clip use a few blocks of the whole GPU."""
import torch

from workload import steps

CLIPS, SAMPLES = 4, 480000  # 10 s at 48 kHz


def features(clips):
    clips = torch.nn.functional.layer_norm(clips, (SAMPLES,))  # FAULT
    energy = torch.cumsum(clips * clips, dim=1)  # FAULT
    weights = torch.softmax(energy / energy[:, -1:], dim=1)  # FAULT
    return (weights * clips).sum(dim=1)  # FAULT


def main():
    recordings = torch.randn(16, CLIPS, SAMPLES, device="cuda")
    with torch.inference_mode():
        for step in steps(torch.cuda.synchronize):
            features(recordings[step % len(recordings)])


if __name__ == "__main__":
    main()
