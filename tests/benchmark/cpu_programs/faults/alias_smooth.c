// A smoothing filter whose output may alias its weights and its length: gcc keeps reloading them and does not vectorise.
#include <stdio.h>
#include <stdlib.h>
struct filter { int *in, *out, *weights; int *length; };
#ifdef FIXED
__attribute__((noinline)) static void smooth(const struct filter *f) {
  const int *restrict in = f->in; int *restrict out = f->out; int n = *f->length;
  int a = f->weights[0], b = f->weights[1], c = f->weights[2];
  for (int i = 1; i < n - 1; ++i)
    out[i] = a * in[i - 1] + b * in[i] + c * in[i + 1];
}
#else
__attribute__((noinline)) static void smooth(const struct filter *f) {
  for (int i = 1; i < *f->length - 1; ++i)
    f->out[i] = f->weights[0] * f->in[i - 1] + f->weights[1] * f->in[i] + f->weights[2] * f->in[i + 1];
}
#endif
int main(int argc, char **argv) {
  int steps = argc > 1 ? atoi(argv[1]) : 300000, n = 8192;
  struct filter f = {calloc(n, 4), calloc(n, 4), calloc(3, 4), &n};
  f.weights[0] = f.weights[2] = 1; f.weights[1] = 2;
  for (int i = 0; i < n; ++i) f.in[i] = f.out[i] = i % 17 + 1;
  for (int s = 0; s < steps; ++s) { smooth(&f); int *t = f.in; f.in = f.out; f.out = t; }
  printf("%d\n", f.in[n / 2]);
}
