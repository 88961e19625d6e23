/* Gaussian blur along the rows of a grey image. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void blur(const double *in, double *out, int width, int height, double sigma) {
    int radius = (int)(3 * sigma);
#ifdef FIXED
    double weight[64];
    for (int k = -radius; k <= radius; k++) weight[k + radius] = exp(-k * k / (2 * sigma * sigma));
#endif
    for (int y = 0; y < height; y++)
        for (int x = radius; x < width - radius; x++) {
            double sum = 0, norm = 0;
            for (int k = -radius; k <= radius; k++) {
#ifdef FIXED
                double w = weight[k + radius];
#else
                double w = exp(-k * k / (2 * sigma * sigma));
#endif
                sum += w * in[y * width + x + k];
                norm += w;
            }
            out[y * width + x] = sum / norm;
        }
}

int main(int argc, char **argv) {
    int images = argc > 1 ? atoi(argv[1]) : 34;
    int width = 1280, height = 720;
    double *a = calloc(width * height, sizeof *a), *b = calloc(width * height, sizeof *b);
    for (int i = 0; i < width * height; i++) a[i] = (i % 1000 * 7919 % 256);
    for (int i = 0; i < images; i++) {
        blur(a, b, width, height, 3.0 + 0.01 * i);
        double *t = a; a = b; b = t;
    }
    printf("%f\n", a[width * 100 + 640]);
    return 0;
}
