"""How accurate the default learner is, beside its peers, on the same folds with the same public
bounds.

- :mod:`~experiments.bench.accuracy.data`: which data sets, and which of them are held out
- :mod:`~experiments.bench.accuracy.header`: the public schema of a set, from the header that
  documents it
- :mod:`~experiments.bench.accuracy.views`: what a peer gets to see: its own binning or ours
- :mod:`~experiments.bench.accuracy.environment`: the peers' own environment
- :mod:`~experiments.bench.accuracy.peers`: the process that runs there, and how to talk to it
- :mod:`~experiments.bench.accuracy.contestants`: everything that is compared, by name
- :mod:`~experiments.bench.accuracy.folds`: splits and measures
- :mod:`~experiments.bench.accuracy.results`: results on disk, one line per fit
- :mod:`~experiments.bench.accuracy.summary`: means, the better binning, wins and losses
- :mod:`~experiments.bench.accuracy.report`: the page and the pictures
"""
