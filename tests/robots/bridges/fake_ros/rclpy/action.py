"""An action client with its server in one: the server is a script that goes a step further each time the node spins."""

from __future__ import annotations

from types import SimpleNamespace

from geodrome_interfaces.action import RunTrial

SUCCEEDED, CANCELED, ABORTED = 4, 5, 6


class Future:
    def __init__(self):
        self._done = False
        self._result = None
        self._callbacks = []

    def done(self):
        return self._done

    def result(self):
        return self._result

    def add_done_callback(self, callback):
        if self._done:
            callback(self)
        else:
            self._callbacks.append(callback)

    def set_result(self, result):
        self._result, self._done = result, True
        for callback in self._callbacks:
            callback(self)


class Server:
    """Measures the sum of the squares of all parameters; subclasses do something else."""

    is_there = True
    answers_goals = True
    rests = True

    def accepts(self, goal):
        return True

    def execute(self, goal):
        """Yields whether there is feedback in a step; returns status and result."""
        yield True
        return SUCCEEDED, RunTrial.Result(cost=sum(x * x for p in goal.parameters for x in p.data))


class ClientGoalHandle:
    def __init__(self, client, goal, feedback_callback):
        self._client = client
        self.accepted = client.server.accepts(goal)
        self._script = client.server.execute(goal)
        self._hear = feedback_callback
        self._waiting = []
        self._ended = None
        self._is_cancelled = False

    def get_result_async(self):
        self._waiting.append(Future())
        return self._waiting[-1]

    def cancel_goal_async(self):
        self._client.cancelled.append(self)
        self._is_cancelled = self._client.server.rests
        return Future()

    def step(self):
        if self._ended is None and self._is_cancelled:
            self._ended = (CANCELED, RunTrial.Result())
        elif self._ended is None:
            try:
                if next(self._script):
                    self._hear(SimpleNamespace(feedback=RunTrial.Feedback()))
            except StopIteration as ended:
                self._ended = ended.value
        if self._ended is not None:
            for future in self._waiting:
                if not future.done():
                    future.set_result(SimpleNamespace(status=self._ended[0], result=self._ended[1]))


class ActionClient:
    server = Server()

    def __init__(self, node, action_type, action_name):
        node.waitables.append(self)
        self.action_name = action_name
        self.goals = []
        self.cancelled = []
        self._sent = []
        self._handles = []

    def wait_for_server(self, timeout_sec=None):
        return self.server.is_there

    def server_is_ready(self):
        return self.server.is_there

    def send_goal_async(self, goal, feedback_callback=None, goal_uuid=None):
        assert isinstance(goal, RunTrial.Goal)
        self.goals.append(goal)
        self._sent.append((Future(), goal, feedback_callback))
        return self._sent[-1][0]

    def execute(self):
        for handle in self._handles:
            handle.step()
        while self._sent and self.server.answers_goals:
            future, goal, feedback_callback = self._sent.pop(0)
            handle = ClientGoalHandle(self, goal, feedback_callback)
            if handle.accepted:
                self._handles.append(handle)
            future.set_result(handle)
