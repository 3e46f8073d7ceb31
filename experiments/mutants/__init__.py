"""Faults that are put in on purpose, one at a time: does anything notice?

A :class:`~experiments.mutants.mutant.Mutant` is one small replacement in the real source, of the
kind that a privacy engineer would fear. It names the tests and audits that must catch it.
:mod:`experiments.mutants.source` finds the code by its syntax tree, wherever it stands and however
it is laid out. :mod:`experiments.mutants.run` puts the fault into a copy of the package and runs
exactly those tests and audits; they must pass without it and fail with it. ``python -m
experiments.mutants`` does so for all, and ``-o docs/results/mutants.md`` writes the page.
"""
