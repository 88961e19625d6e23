"""Features of audio, 16 clips per call: kernels that work clip by clip use a few blocks of the whole GPU."""
import torch

from workload import FIXED, steps

REQUESTS, CLIPS, SAMPLES = 8, 16, 2400000  # 50 s at 48 kHz


def features(clips):
    clips = torch.nn.functional.layer_norm(clips, (SAMPLES,))  # FAULT
    energy = torch.cumsum(clips * clips, dim=1)  # FAULT
    weights = torch.softmax(energy / energy[:, -1:], dim=1)  # FAULT
    return (weights * clips).sum(dim=1)  # FAULT


def main():
    recordings = torch.randn(REQUESTS, CLIPS, SAMPLES, device="cuda")
    with torch.inference_mode():
        for step in steps(torch.cuda.synchronize):
            if not FIXED:
                features(recordings[step % REQUESTS])
            elif step % REQUESTS == 0:
                features(recordings.view(-1, SAMPLES))


if __name__ == "__main__":
    main()
