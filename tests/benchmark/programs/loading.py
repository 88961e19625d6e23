"""How the fixed programs prepare their batches in other processes."""
import itertools

from torch.utils.data import DataLoader


def load_ahead(load, items, workers=12):
    """Yields `load(item)` for all items again and again. Worker processes prepare the tensors in pinned memory."""
    order = itertools.cycle(range(len(items)))
    return iter(DataLoader(items, batch_size=None, sampler=order, collate_fn=load, num_workers=workers,
                           pin_memory=True))


def load_now(load, items):
    """Yields `load(item)` for all items again and again, prepared by the caller's thread when it is needed."""
    return map(load, itertools.cycle(items))
