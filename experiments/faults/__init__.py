"""What breaks while budgets are charged and files are written, and what is left then.

- :mod:`~experiments.faults.tally`: what a fault may not do, counted
- :mod:`~experiments.faults.victims`: processes that ask, and tell what they got before they are
  killed
- one module for each kind of fault: ``kill``, ``service``, ``race``, ``forks``, ``disk``,
  ``read_only``, ``clock``, ``database``
- :mod:`~experiments.faults.durable`: whether what is said was flushed before
- :mod:`~experiments.faults.report`: the page
"""
