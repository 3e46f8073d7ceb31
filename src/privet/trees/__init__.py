"""Growers: structures and released counts, through a curator.

- :mod:`~privet.trees.random`: structures drawn before the data is seen
- :mod:`~privet.trees.batches`: their leaf counts, batch by batch: count, add, merge
- :mod:`~privet.trees.weighing`, :mod:`~privet.model.from_leaves`: how batches weigh, and become
  trees; pays nothing
- :mod:`~privet.trees.greedy`: splits chosen privately, level by level;
  :mod:`~privet.trees.schedule` spreads epsilon
- :mod:`~privet.trees.noisy_id3`: ID3 on noisy counts
- :mod:`~privet.model.shrink`: thin nodes borrow from their ancestors; pays nothing
- :mod:`~privet.trees.exact`: non-private baselines on encoded rows
"""
