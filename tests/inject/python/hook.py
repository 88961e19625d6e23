"""A communication hook that launches in a thread of autograd, which runs nothing of the program."""
import ctypes
import functools
import threading

import torch._C
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.modules.module import Module

cuda = ctypes.CDLL("libcuda.so.1")
autograd = torch._C.library


class Function(ctypes.Structure):
    _fields_ = [("symbol", ctypes.c_char_p), ("parameters", ctypes.c_size_t), ("sizes", ctypes.c_size_t * 8),
                ("is_kernel", ctypes.c_bool)]


kernel = Function(b"kernel", 0)
launch = functools.partial(cuda.cuLaunchKernel, ctypes.byref(kernel), 1, 1, 1, 32, 1, 1, 0, None, None, None)


class Layer(Module):
    def forward(self):
        autograd.fake_torch_make()
        launch()  # line of the forward


cuda.cuInit(0)
Layer()()
thread = threading.Thread(target=default_hooks.compress, args=(launch,))
thread.start()
thread.join()
