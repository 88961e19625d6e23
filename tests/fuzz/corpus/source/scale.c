// A host kernel.
#define N 4
void scale(float* y, const float* x, float a, int n, int thread, int threads) {
  for (int i = thread; i < n; i += threads) y[i] = a * x[i];
}
