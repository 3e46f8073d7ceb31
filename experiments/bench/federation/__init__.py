"""Trees of several batches, parties and tables: how accurate they are, and what they are beside one
curator of all rows.

- :mod:`~experiments.bench.federation.problem`: a data set, its folds, curators of parts of it,
  accuracy on rows that were held out
- :mod:`~experiments.bench.federation.forests`: leaf counts of random trees, read by our recipe and
  by the papers'
- :mod:`~experiments.bench.federation.updates`: rows that come in batches
- :mod:`~experiments.bench.federation.horizontal`: parties that hold different rows: alone, merged,
  in a secure sum, pooled
- :mod:`~experiments.bench.federation.unequal`: parties of different size and epsilon, and how their
  batches should weigh
- :mod:`~experiments.bench.federation.vertical`: parties that hold different attributes of the same
  people
- :mod:`~experiments.bench.federation.crossed`: the same with the default learner, by turns, too
- :mod:`~experiments.bench.federation.bank`: a generated table of bank customers
- :mod:`~experiments.bench.federation.gibbs`: parties that draw whole trees
- :mod:`~experiments.bench.federation.results`: one line per measured accuracy, kept so that a run
  can go on
- :mod:`~experiments.bench.federation.pictures`: curves of the means
- :mod:`~experiments.bench.federation.report`: the tables of the page
"""
