"""The compute pool: processes that fit models and search for points, so that the web process never does.

What travels to a worker and back is plain data, see ``questions``. ``tasks`` run in workers, ``pool`` sends them there.
A suggestion is a pure function of question, count and seed.
"""
