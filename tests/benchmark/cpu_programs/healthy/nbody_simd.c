/* Gravity of bodies on two threads, structure of arrays. */
#include <math.h>
#include <stdio.h>

enum { N = 4096 };
static float x[N], y[N], z[N], m[N], ax[N], ay[N], az[N];

int main(int argc, char **argv) {
    int steps = argc > 1 ? N / 1024 : 420;
    for (int i = 0; i < N; i++) x[i] = i % 97, y[i] = i % 89, z[i] = i % 83, m[i] = 1.0f + i % 3;
    for (int s = 0; s < steps; s++) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < N; i++) {
            float fx = 0, fy = 0, fz = 0, px = x[i], py = y[i], pz = z[i];
            for (int j = 0; j < N; j++) {
                float dx = x[j] - px, dy = y[j] - py, dz = z[j] - pz;
                float r2 = dx * dx + dy * dy + dz * dz + 0.01f;
                float inv = 1.0f / sqrtf(r2), f = m[j] * inv * inv * inv;
                fx += f * dx, fy += f * dy, fz += f * dz;
            }
            ax[i] = fx, ay[i] = fy, az[i] = fz;
        }
        for (int i = 0; i < N; i++) x[i] += 1e-4f * ax[i], y[i] += 1e-4f * ay[i], z[i] += 1e-4f * az[i];
    }
    printf("%f %f %f\n", x[1], y[2], z[3]);
    return 0;
}
