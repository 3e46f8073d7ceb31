"""How accurate the default learner is, beside its peers, on the same folds with the same public
bounds.

- :mod:`~experiments.bench.accuracy.data`: which data sets, and which of them are held out
- :mod:`~experiments.bench.accuracy.header`: the public schema of a set, from the header that
  documents it
- :mod:`~experiments.bench.accuracy.views`: what a peer gets to see: its own binning or ours
- :mod:`~experiments.bench.accuracy.environment`: the peers' own environment
- :mod:`~experiments.bench.accuracy.peers`: the process that runs there, and how to talk to it
- :mod:`~experiments.bench.accuracy.tr_ebm_like`, :mod:`~experiments.bench.accuracy.s_bdt_like`:
  contestants of our own after papers, with noise from :mod:`~experiments.bench.accuracy.gaussian`
- :mod:`~experiments.bench.accuracy.contestants`: everything that is compared, by name
- :mod:`~experiments.bench.accuracy.folds`, :mod:`~experiments.bench.accuracy.measures`: splits, and
  what is measured on them
- :mod:`~experiments.bench.accuracy.results`, :mod:`~experiments.bench.accuracy.versions`: results
  on disk, one line per fit, and which of them still hold
- :mod:`~experiments.bench.accuracy.summary`: means, the better binning, wins and losses
- :mod:`~experiments.bench.accuracy.goals`: what we aim at
- :mod:`~experiments.bench.accuracy.report`: the page and the pictures, from
  :mod:`~experiments.bench.accuracy.standing` (per learner of ours),
  :mod:`~experiments.bench.accuracy.losses` and :mod:`~experiments.bench.accuracy.section` (per set)
"""
