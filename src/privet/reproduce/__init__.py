"""The experiments of papers, run again from end to end, and one report of what came out beside what
the papers say.

The frame:

- :mod:`~privet.reproduce.experiment`: papers, experiments (one figure or table each), cells (small
  pieces of work), comparisons
- :mod:`~privet.reproduce.papers`: which papers there are
- :mod:`~privet.reproduce.running`: cells in several processes at once;
  :mod:`~privet.reproduce.keeping` keeps what is done
- :mod:`~privet.reproduce.whole`: a whole run; :mod:`~privet.reproduce.page` is its report,
  :mod:`~privet.reproduce.files` writes
- :mod:`~privet.reproduce.chance`: where the chance of a cell comes from
- :mod:`~privet.reproduce.textbook`: noise as papers draw it, **NOT PRIVATE**

The papers, each a room with a ``paper`` module:

- :mod:`~privet.reproduce.rdt2009`, :mod:`~privet.reproduce.rdt2012`: random decision trees, which
  share :mod:`~privet.reproduce.rdt`
- :mod:`~privet.reproduce.hanisch`: a count procedure in a database, trees and forests on adult
- :mod:`~privet.reproduce.novakovic`: trees by the exponential mechanism
- :mod:`~privet.reproduce.anatomy`: decision trees on outsourced data (Mancuhan and Clifton 2014),
  which is no differential privacy

Everything in here computes on public data. What repeats an error of a paper is called *as
published, NOT PRIVATE*, lives here only and is no learner. Divisions of rows come from public
seeds; noise comes from the system's generator, so runs differ a little.
"""
