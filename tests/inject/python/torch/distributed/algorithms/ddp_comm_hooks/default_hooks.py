def launch_all(launch):
    launch()


def compress(launch):  # line of the hook
    launch_all(launch)
