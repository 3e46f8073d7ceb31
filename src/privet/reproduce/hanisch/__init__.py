"""Hanisch, *Differential Privacy for Decision Trees*: random private trees and forests on Adult,
and the tale of the billionaire.

- :mod:`~privet.reproduce.hanisch.protocol`: what the paper leaves open, as named constants
- :mod:`~privet.reproduce.hanisch.table`: Adult with seven grouped attributes and balanced classes
- :mod:`~privet.reproduce.hanisch.as_published`: his count procedure and his forest, **NOT PRIVATE**
- :mod:`~privet.reproduce.hanisch.jobs`: what the cells compute
- :mod:`~privet.reproduce.hanisch.pictures`: in the form of his figures
- :mod:`~privet.reproduce.hanisch.comparing`: what he says beside what came out
- :mod:`~privet.reproduce.hanisch.paper`: all of it, figure by figure
"""
