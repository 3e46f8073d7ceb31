"""Learn random decision trees, and add batches and parties to them.

- :mod:`~privet.learners.random_trees.classifier`: ``RandomTreesClassifier``
- :mod:`~privet.learners.random_trees.drawing`: draw structures before any data is seen
- :mod:`~privet.learners.random_trees.batches`: count leaves batch by batch, weigh and merge them
"""
