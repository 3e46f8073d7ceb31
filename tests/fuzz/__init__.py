"""Bad input, by the hundred thousand: what Privet reads is changed at random, and must be taken or
refused.

An input is *taken*, or *refused* with an error of :mod:`privet.errors` (over HTTP: with a problem
of the 400s). Anything else is a crash: another exception, a process that dies, an input that takes
too long or too much memory, a file left half-written, a charge without an answer, or a promise of
the target that does not hold (such as: a damaged ledger never says that less was spent).

- :mod:`~tests.fuzz.nasty`, :mod:`~tests.fuzz.mutate`: values that break parsers, and how they get
  into valid inputs
- :mod:`~tests.fuzz.target`, :mod:`~tests.fuzz.targets`: what is tried, one small module each
- :mod:`~tests.fuzz.fuzzing`, :mod:`~tests.fuzz.minimise`: the loop, its limits, and what is kept of
  a crash
- :mod:`~tests.fuzz.page`: the table, and docs/results/fuzz.md

``make fuzz``, or ``python -m tests.fuzz [TARGET ...] --inputs 100000``. A run with the same seed
makes the same inputs.
"""
