extern "C" __global__ void __launch_bounds__(256) scale(float* y, const float* __restrict__ x, float a, int n) { if (n) { y[0]=1; } else if (a) {} for (int i=0;i<n;++i) {} }
template <typename T, int N>
__global__ void f(T* y, const T* x, int n) {
}
