"""Signals of 8,191 samples, a prime number, are filtered by Fourier transforms of that length."""
import cupy as cp

from workload import FIXED, steps

SIGNALS, SAMPLES = 8192, 8191
LENGTH = 8192 if FIXED else SAMPLES


def smooth(signals, response):
    spectrum = cp.fft.rfft(signals, n=LENGTH)  # FAULT
    return cp.fft.irfft(spectrum * response, n=LENGTH)[:, :SAMPLES]  # FAULT


def main():
    signals = cp.random.standard_normal((SIGNALS, SAMPLES), dtype=cp.float32)
    frequency = cp.fft.rfftfreq(LENGTH).astype(cp.float32)
    response = cp.exp(-(frequency / 0.1) ** 2)
    for _ in steps(cp.cuda.Device().synchronize):
        signals = smooth(signals, response).astype(cp.float32)


if __name__ == "__main__":
    main()
