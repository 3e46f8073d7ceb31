"""Add noise and choose privately. Everything random that is released comes from here.

- :mod:`~privet.mechanisms.randomness`: random words of the operating system, the only source
- :mod:`~privet.mechanisms.coins`: exact coins and geometric draws
- :mod:`~privet.mechanisms.laplace`, :mod:`~privet.mechanisms.gaussian`: noise on integers
- :mod:`~privet.mechanisms.shares`: Laplace noise that several parties add up to
- :mod:`~privet.mechanisms.selection`: choose about the best of several candidates
- :mod:`~privet.mechanisms.criteria`: score splits: Gini, information gain, majority
- :mod:`~privet.mechanisms.response`: randomised response
- :mod:`~privet.mechanisms.gibbs`: draw a whole labelled tree
"""
