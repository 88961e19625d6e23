/* Evaluates a polynomial of degree 23 for blocks of points that stay in the first-level cache. */
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 1536, DEGREE = 23 };

static void evaluate(const double *restrict x, double *restrict y, const double *restrict c) {
    for (int i = 0; i < POINTS; i++) {
        double v = c[DEGREE];
        for (int k = DEGREE - 1; k >= 0; k--) v = v * x[i] + c[k];
        y[i] += v;
    }
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 2600000;
    static double x[POINTS], y[POINTS], c[DEGREE + 1];
    for (int i = 0; i < POINTS; i++) x[i] = (i - 700) / 1000.0;
    for (int k = 0; k <= DEGREE; k++) c[k] = 1.0 / (k + 1);
    for (int r = 0; r < rounds; r++) {
        c[0] = r * 1e-9;
        evaluate(x, y, c);
    }
    printf("%.9g\n", y[100]);
    return 0;
}
