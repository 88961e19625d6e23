/* Finds the document nearest to each query by the cosine of their embeddings. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIM = 768, DOCS = 300 };

static float cosine(const float *a, const float *b) {
    float dot = 0, na = 0, nb = 0;
#ifdef FIXED
#pragma omp simd reduction(+ : dot, na, nb)
#endif
    for (int i = 0; i < DIM; i++) {
        dot += a[i] * b[i];
        na += a[i] * a[i];
        nb += b[i] * b[i];
    }
    return dot / sqrtf(na * nb);
}

int main(int argc, char **argv) {
    int queries = argc > 1 ? atoi(argv[1]) : 15000;
    float *docs = malloc(sizeof(float) * DOCS * DIM), *query = malloc(sizeof(float) * DIM);
    srand(1);
    for (int i = 0; i < DOCS * DIM; i++) docs[i] = rand() / (float)RAND_MAX - 0.5f;
    long check = 0;
    for (int q = 0; q < queries; q++) {
        for (int i = 0; i < DIM; i++) query[i] = docs[(q * 131 + i * 7) % (DOCS * DIM)];
        int best = 0;
        float most = -2;
        for (int d = 0; d < DOCS; d++) {
            float c = cosine(query, docs + d * DIM);
            if (c > most) most = c, best = d;
        }
        check += best;
    }
    printf("%ld\n", check);
    return 0;
}
