// A library with the name of XLA's plugin for CUDA.
extern "C" int fake_xla_plugin() { return 1; }
