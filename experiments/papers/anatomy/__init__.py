"""The five experiments of Mancuhan and Clifton 2014, *Decision Tree Classification on Outsourced
Data*, section 4.

A server and its clients are processes of their own that talk over loopback. This is anatomization,
not differential privacy.

- :mod:`~experiments.papers.anatomy.experiments`: which tables, sensitive attributes and kinds of
  splits
- :mod:`~experiments.papers.anatomy.folds`: ten folds of whole groups, kept so that a run can go on
- :mod:`~experiments.papers.anatomy.processes`: the server and the clients, which never outlive the
  run
- :mod:`~experiments.papers.anatomy.client`: what runs in a client's process, and what it measures
  there
- :mod:`~experiments.papers.anatomy.fold`: all learners on one fold
- :mod:`~experiments.papers.anatomy.results`: one line per experiment, fold and learner
- :mod:`~experiments.papers.anatomy.summary`: means, paired differences, and whether the paper's
  claims hold here
- :mod:`~experiments.papers.anatomy.pictures`: box plots of time, memory and accuracy
- :mod:`~experiments.papers.anatomy.run`: the whole of it
"""
