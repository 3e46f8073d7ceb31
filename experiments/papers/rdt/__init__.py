"""What the two papers of Jagannathan, Pillaipakkamnatt and Wright on private random decision trees
share.

- :mod:`~experiments.papers.rdt.protocol`: how much is done, and what the papers leave open
- :mod:`~experiments.papers.rdt.tables`: the data sets as the papers prepare them, and folds
- :mod:`~experiments.papers.rdt.forests`: many noise draws on one exact count of a forest's leaves
- :mod:`~experiments.papers.rdt.recursion`: ID3 on noisy counts, by the papers' own recursion
- :mod:`~experiments.papers.rdt.pruning`: why random trees must not be pruned
- :mod:`~experiments.papers.rdt.jobs`: what cells do
- :mod:`~experiments.papers.rdt.reading`: means and sentences from their lines
"""
