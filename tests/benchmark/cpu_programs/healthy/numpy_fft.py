"""Band-pass of many signals in the frequency domain."""
import numpy as np

rng = np.random.default_rng(8)
signals = rng.standard_normal((256, 8192))
keep = np.zeros(4097)
keep[50:900] = 1
energy = 0.0
for round_ in range(90):
    spectrum = np.fft.rfft(signals, axis=1)
    spectrum *= keep
    filtered = np.fft.irfft(spectrum, axis=1)
    energy += float(np.vdot(filtered, filtered))
print(f"{energy:.3f}")
