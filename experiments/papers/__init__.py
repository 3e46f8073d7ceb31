"""The experiments of papers, run again from end to end, and one report of what came out beside what
the papers say.

The frame:

- :mod:`~experiments.papers.experiment`: papers, experiments (one figure or table each), cells
  (small pieces of work), comparisons
- :mod:`~experiments.papers.claims`: claims as statistics, and whether numbers bear them out
- :mod:`~experiments.papers.inventory`: every item of the papers, and where it is
- :mod:`~experiments.papers.papers`: which papers there are
- :mod:`~experiments.papers.running`: cells in several processes at once;
  :mod:`~experiments.papers.keeping` keeps what is done
- :mod:`~experiments.papers.whole`: a whole run; :mod:`~experiments.papers.page` is its report,
  :mod:`~experiments.papers.ran` says what was run, :mod:`~experiments.papers.files` writes
- :mod:`~experiments.papers.stories`: what papers tell instead of measuring, made executable
- :mod:`~experiments.papers.chance`: where the chance of a cell comes from
- :mod:`~experiments.papers.textbook`: noise as papers draw it, **NOT PRIVATE**

The papers, each a room with a ``paper`` module:

- :mod:`~experiments.papers.rdt2009`, :mod:`~experiments.papers.rdt2012`: random decision trees,
  which share :mod:`~experiments.papers.rdt`
- :mod:`~experiments.papers.hanisch`: a count procedure in a database, trees and forests on adult
- :mod:`~experiments.papers.novakovic`: trees by the exponential mechanism
- :mod:`~experiments.papers.anatomy`: decision trees on outsourced data (Mancuhan and Clifton 2014),
  which is no differential privacy

Everything in here computes on public data. What repeats an error of a paper is called *as
published, NOT PRIVATE*, lives here only and is no learner. Divisions of rows come from public
seeds; noise comes from the system's generator, so runs differ a little.
"""
