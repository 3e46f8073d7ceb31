"""Jagannathan, Pillaipakkamnatt and Wright 2012, *A Practical Differentially Private Random
Decision Tree Classifier*.

Tables 1 and 2, and figures 1 to 5.

- :mod:`~experiments.papers.rdt2012.paper`: what is repeated, and what the paper says of it
- :mod:`~experiments.papers.rdt2012.pictures`: box plots and curves
- :mod:`~experiments.papers.rdt2012.comparing`: what came out beside what it says
"""
