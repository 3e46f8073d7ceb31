"""The five experiments of Mancuhan and Clifton 2014, *Decision Tree Classification on Outsourced
Data*, section 4.

A server and its clients are processes of their own that talk over loopback. This is anatomization,
not differential privacy.

- :mod:`~privet.reproduce.anatomy.experiments`: which tables, sensitive attributes and kinds of
  splits
- :mod:`~privet.reproduce.anatomy.folds`: ten folds of whole groups, kept so that a run can go on
- :mod:`~privet.reproduce.anatomy.processes`: the server and the clients, which never outlive the
  run
- :mod:`~privet.reproduce.anatomy.client`: what runs in a client's process, and what it measures
  there
- :mod:`~privet.reproduce.anatomy.fold`: all learners on one fold
- :mod:`~privet.reproduce.anatomy.results`: one line per experiment, fold and learner
- :mod:`~privet.reproduce.anatomy.summary`: means, paired differences, and whether the paper's
  claims hold here
- :mod:`~privet.reproduce.anatomy.pictures`: box plots of time, memory and accuracy
- :mod:`~privet.reproduce.anatomy.run`: the whole of it
"""
