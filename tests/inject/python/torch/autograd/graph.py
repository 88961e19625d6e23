"""The engine of autograd, which evaluates nodes in the thread that calls it."""


def _engine_run_backward(nodes):
    for evaluate, launch in nodes:
        evaluate()
        launch()
