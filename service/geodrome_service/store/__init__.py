"""What the service knows, in a database: studies, their trials, and every change of a trial's state.

::

    queued ──► running ──► completed | failed | abandoned
                  │
                  └──► lost ──► the same point, queued again as a new trial, up to the study's max_attempts

A lease that ends makes a running trial lost. Its result is kept whenever it still comes, flagged ``late``; the repeat
is then withdrawn if nobody runs it yet. A person may abandon a trial in any state. ``queueing`` and ``own_points`` add
trials, ``leases`` hands them out and takes them back, ``repeats`` offers lost points again, ``outcomes`` ends trials.
"""
