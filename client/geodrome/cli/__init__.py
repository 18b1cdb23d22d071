"""The command line: ``geodrome …``.

Exit code 0: done. 1: the service refused or cannot be reached; the error stream says why. 2: wrong usage.
"""

from geodrome.cli.root import main

__all__ = ["main"]
