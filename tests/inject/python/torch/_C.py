"""What torch._C says of the node that is evaluated."""
import ctypes

library = ctypes.CDLL("libtorch_cpu.so")
library.fake_torch_sequence.restype = ctypes.c_uint64


class ScaleBackward:
    def _sequence_nr(self):
        return library.fake_torch_sequence()


def _current_autograd_node():
    return ScaleBackward()
