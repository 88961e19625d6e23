"""Launches from lines and modules, with the driver that CDLL finds."""
import ctypes
import sys
import threading

from torch.nn.modules.module import Module

cuda = ctypes.CDLL("libcuda.so.1")


class Function(ctypes.Structure):
    _fields_ = [("symbol", ctypes.c_char_p), ("parameters", ctypes.c_size_t), ("sizes", ctypes.c_size_t * 8),
                ("is_kernel", ctypes.c_bool)]


kernel = Function(b"kernel", 0)


GEOMETRY = (1, 1, 1, 32, 1, 1, 0, None, None, None)


class Leaf(Module):
    def forward(self):
        cuda.cuLaunchKernel(ctypes.byref(kernel), *GEOMETRY)  # line of the leaf


class Block(Module):
    def __init__(self):
        super().__init__()
        self.first = Leaf()
        self.second = Leaf()
        self.hidden = [Leaf()]

    def forward(self):
        self.first()
        self.second()
        self.hidden[0]()
        cuda.cuLaunchKernel(ctypes.byref(kernel), *GEOMETRY)  # line of the block


class Model(Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self):
        self.block()


def fails():
    class Broken(Module):
        def forward(self):
            raise ValueError

    try:
        Broken()()
    except ValueError:
        cuda.cuLaunchKernel(ctypes.byref(kernel), *GEOMETRY)  # line after the failure


cuda.cuInit(0)
model = Model()
for _ in range(3):
    model()
cuda.cuLaunchKernel(ctypes.byref(kernel), *GEOMETRY)  # line of the script
fails()
thread = threading.Thread(target=model, name="worker")
thread.start()
thread.join()
del model
Model()()  # another of its class, perhaps where the first one was
sys.exit(0)
