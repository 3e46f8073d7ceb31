"""Faults that are put in on purpose, one at a time: does anything notice?

A :class:`~bench.mutants.mutant.Mutant` is one small replacement in the real source, of the kind
that a privacy engineer would fear. It names the tests and audits that must catch it.
:mod:`bench.mutants.run` puts it into a copy of the package and runs exactly those; they must pass
without it and fail with it. ``python -m bench.mutants`` does so for all, and ``-o
docs/results/mutants.md`` writes the page.
"""
