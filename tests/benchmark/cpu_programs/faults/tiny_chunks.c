/* Rescales the samples of a long recording and finds the peak, step by step. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef FIXED
#define HOW schedule(static)
#else
#define HOW schedule(dynamic)
#endif

int main(void) {
    const int count = 4000000;
    float *in = malloc(count * sizeof *in), *out = malloc(count * sizeof *out);
    for (int i = 0; i < count; i++) in[i] = (float)((i * 37L) % 2001 - 1000);
    double check = 0;
    for (int pass = 0; pass < 220; pass++) {
        float gain = 1.0f / (pass + 1);
#pragma omp parallel for HOW
        for (int i = 0; i < count; i++) {
            float v = in[i] * gain;
            out[i] = v / (1.0f + fabsf(v));
        }
        check += out[pass * 1001];
    }
    printf("%f\n", check);
    free(in);
    free(out);
    return 0;
}
