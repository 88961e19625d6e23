"""The process in which count_work() counts: python -m roofline._counted FILE CALLS"""

import gc
import os
import pickle
import runpy
import sys
import time
import traceback
import types
from typing import Any, Callable, Mapping, Sequence

from .regions import region

#: Range of one call, in which GPU kernels are counted.
RANGE = "roofline_count_work"
_GPU_SECONDS = 8.0  #: counting begins with the second launch and takes turns with calls that run freely


def _load_main(path: str) -> None:
    """Functions of the script that was started belong to the module __main__: here a module of its own, as for
    multiprocessing's spawn, so that what stands under `if __name__ == "__main__":` does not run."""
    main = types.ModuleType("__roofline_main__")
    main.__dict__.update(runpy.run_path(path, run_name="__roofline_main__"))
    sys.modules["__main__"] = sys.modules["__roofline_main__"] = main


def _call_with_ranges(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Until there was time to count: at least 20 calls, each a range."""
    begin, calls = time.perf_counter(), 0
    while calls < 20 or time.perf_counter() - begin < _GPU_SECONDS:
        with region(RANGE):
            function(*args, **kwargs)
            torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
            if torch is not None:
                torch.cuda.synchronize()
            elif cupy is not None:
                cupy.cuda.get_current_stream().synchronize()
        calls += 1


def main(path: str, calls: int) -> int:
    """Calls the function so many times; 0: on a GPU, until it was counted."""
    os.dup2(2, 1)  # what it prints is no output of the caller
    try:
        with open(path, "rb") as file:
            script = pickle.load(file)
            if script:
                _load_main(script)
            function, args, kwargs = pickle.load(file)
        gc.disable()
        if calls == 0:
            _call_with_ranges(function, args, kwargs)
        for _ in range(calls):
            function(*args, **kwargs)
    except BaseException as error:
        with open(path + ".error", "w", encoding="utf-8") as file:
            file.write("".join(traceback.format_exception_only(type(error), error)).strip())
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
