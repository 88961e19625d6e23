// A library that a test recognises, and that has no name of its own: copies of it stand for versions of CUPTI.
extern "C" __attribute__((visibility("default"))) void cupti_of_a_test() {}
