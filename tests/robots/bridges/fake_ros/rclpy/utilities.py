import sys


def remove_ros_args(args=None):
    given = list(sys.argv if args is None else args)
    return given[: given.index("--ros-args")] if "--ros-args" in given else given
