"""Novakovic 2019, *Data mining with privacy guarantees: Decision trees with differential privacy*
(master thesis), chapter 7.

- :mod:`~privet.reproduce.novakovic.protocol`: what the thesis leaves open, as named constants
- :mod:`~privet.reproduce.novakovic.tables`: the ten tables, as the listings see them and with a
  public schema
- :mod:`~privet.reproduce.novakovic.as_published`: the trees of the listings, **NOT PRIVATE**
- :mod:`~privet.reproduce.novakovic.jobs`: what the cells compute
- :mod:`~privet.reproduce.novakovic.pictures`: curves and heat maps
- :mod:`~privet.reproduce.novakovic.comparing`: what the thesis says beside what came out
- :mod:`~privet.reproduce.novakovic.paper`: all of it, figure by figure
"""
