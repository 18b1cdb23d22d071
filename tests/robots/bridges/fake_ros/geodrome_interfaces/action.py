class Goal:
    number = 0
    parameters = ()


class Result:
    def __init__(self, *, cost=0.0, metric_names=(), metric_values=(), reason=""):
        self.cost, self.metric_names, self.metric_values, self.reason = cost, metric_names, metric_values, reason


class Feedback:
    progress = 0.0


class RunTrial:
    Goal, Result, Feedback = Goal, Result, Feedback
