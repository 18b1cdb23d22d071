"""Simulated tasks, one a file: those of the paper, and those that labs have.

Each is a ``Task``: it simulates one run, and its cost is a weighted sum of what came out. ``simulation`` has what they
share. A lab that writes a robot of its own copies the one that is most like it.
"""
