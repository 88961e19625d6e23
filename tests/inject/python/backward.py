"""A forward and its backward, in another thread, as autograd's are."""
import ctypes
import functools
import threading

import torch._C
from torch.autograd.graph import _engine_run_backward
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


def node(kind, sequence):
    return functools.partial(autograd.fake_torch_evaluate, ctypes.c_char(kind), ctypes.c_uint64(sequence))


native = functools.partial(cuda.cuLaunchKernel, ctypes.byref(kernel), *GEOMETRY)


def of_function():
    native()  # line of the backward


def of_hook():
    native()  # line of the hook


def backward(model):
    _engine_run_backward([
        (node(b"a", model.second.node), native),
        (node(b"a", model.second.node), of_hook),
        (node(b"g", 0), native),
        (node(b"p", model.first.node), of_function),
        (node(b"a", model.first.node), native),
        (node(b"-", 0), lambda: None),
    ])


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
