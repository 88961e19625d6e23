/* Follows chains of citations through a large table: for each paper, the root after some hops. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int bits = argc > 1 ? atoi(argv[1]) : 26;
    int papers = argc > 2 ? atoi(argv[2]) : 320000, hops = 128;
    uint32_t size = 1u << bits, *cites = malloc(size * sizeof *cites);
    for (uint32_t i = 0; i < size; i++) cites[i] = (i * 1664525u + 1013904223u) & (size - 1);
    for (uint32_t i = 0; i < size; i++) {
        uint32_t j = (uint32_t)((i * 0x9e3779b97f4a7c15ULL) >> 20) & (size - 1), t = cites[i];
        cites[i] = cites[j];
        cites[j] = t;
    }
    uint64_t sum = 0;
#ifdef FIXED
    for (int p = 0; p < papers; p += 16) {
        uint32_t at[16];
        for (int k = 0; k < 16; k++) at[k] = (p + k) * 2654435761u & (size - 1);
        for (int h = 0; h < hops; h++)
            for (int k = 0; k < 16; k++) at[k] = cites[at[k]];
        for (int k = 0; k < 16; k++) sum += at[k];
    }
#else
    for (int p = 0; p < papers; p++) {
        uint32_t at = p * 2654435761u & (size - 1);
        for (int h = 0; h < hops; h++) at = cites[at];
        sum += at;
    }
#endif
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
