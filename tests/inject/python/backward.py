"""A forward and its backward, in another thread, as autograd's are."""
import ctypes
import threading

import torch._C
from torch.nn.modules.module import Module

cuda = ctypes.CDLL("libcuda.so.1")
autograd = torch._C.library


class Function(ctypes.Structure):
    _fields_ = [("symbol", ctypes.c_char_p), ("parameters", ctypes.c_size_t), ("sizes", ctypes.c_size_t * 8),
                ("is_kernel", ctypes.c_bool)]


kernel = Function(b"kernel", 0)
GEOMETRY = (1, 1, 1, 32, 1, 1, 0, None, None, None)


class Layer(Module):
    def forward(self):
        self.node = autograd.fake_torch_make()
        cuda.cuLaunchKernel(ctypes.byref(kernel), *GEOMETRY)  # line of the forward


class Model(Module):
    def __init__(self):
        super().__init__()
        self.first = Layer()
        self.second = Layer()

    def forward(self):
        self.first()
        self.view = autograd.fake_torch_make()  # launches nothing
        self.second()


def evaluate(kind, sequence):
    autograd.fake_torch_evaluate(ctypes.c_char(kind), ctypes.c_uint64(sequence))
    cuda.cuLaunchKernel(ctypes.byref(kernel), *GEOMETRY)  # line of the backward


def backward(model):
    evaluate(b"a", model.second.node)
    evaluate(b"g", 0)
    evaluate(b"p", model.first.node)
    evaluate(b"a", model.first.node)
    autograd.fake_torch_evaluate(ctypes.c_char(b"-"), ctypes.c_uint64(0))


cuda.cuInit(0)
# The first launch of all is of a thread without frames: nothing follows from it for where frames lie.
autograd.fake_torch_launch_elsewhere(ctypes.cast(cuda.cuLaunchKernel, ctypes.c_void_p), ctypes.byref(kernel))
trained = Model()
for _ in range(2):
    autograd.fake_torch_make()
    trained()
    thread = threading.Thread(target=backward, args=(trained,))
    thread.start()
    thread.join()
