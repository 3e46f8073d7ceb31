"""How accurate the default learner is, beside its peers, on the same folds with the same public
bounds.

- :mod:`~bench.accuracy.data`: which data sets, and which of them are held out
- :mod:`~bench.accuracy.header`: the public schema of a set, from the header that documents it
- :mod:`~bench.accuracy.views`: what a peer gets to see: its own binning or ours
- :mod:`~bench.accuracy.environment`: the peers' own environment
- :mod:`~bench.accuracy.peers`: the process that runs there, and how to talk to it
- :mod:`~bench.accuracy.contestants`: everything that is compared, by name
- :mod:`~bench.accuracy.folds`: splits and measures
- :mod:`~bench.accuracy.results`: results on disk, one line per fit
- :mod:`~bench.accuracy.summary`: means, the better binning, wins and losses
- :mod:`~bench.accuracy.report`: the page and the pictures
"""
