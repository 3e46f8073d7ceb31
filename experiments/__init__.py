"""What is done with the library and is no part of it; installed for developers, never in a wheel.

- :mod:`~experiments.papers`: the tables and figures of five papers again
- :mod:`~experiments.bench`: accuracy and speed, beside others
- :mod:`~experiments.mutants`: faults that are put into the source: does a test notice?
- :mod:`~experiments.faults`: killed processes and full disks: are charges lost?
"""
