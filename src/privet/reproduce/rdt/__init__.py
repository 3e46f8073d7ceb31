"""What the two papers of Jagannathan, Pillaipakkamnatt and Wright on private random decision trees
share.

- :mod:`~privet.reproduce.rdt.protocol`: how much is done, and what the papers leave open
- :mod:`~privet.reproduce.rdt.tables`: the data sets as the papers prepare them, and folds
- :mod:`~privet.reproduce.rdt.forests`: many noise draws on one exact count of a forest's leaves
- :mod:`~privet.reproduce.rdt.recursion`: ID3 on noisy counts, by the papers' own recursion
- :mod:`~privet.reproduce.rdt.jobs`: what cells do
- :mod:`~privet.reproduce.rdt.reading`: means and sentences from their lines
"""
