class Parameter:
    """As strict as the classes that ROS generates of a message."""

    def __init__(self, *, name="", rows=0, cols=0, data=()):
        assert isinstance(name, str)
        assert all(isinstance(count, int) and count >= 0 for count in (rows, cols))
        assert all(isinstance(value, float) for value in data)
        self.name, self.rows, self.cols, self.data = name, rows, cols, list(data)
