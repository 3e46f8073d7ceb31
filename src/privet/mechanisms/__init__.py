"""Everything random: where exact counts become answers.

- :mod:`~privet.mechanisms.randomness`: the cryptographic source, and the test seed that must be
  unlocked
- :mod:`~privet.mechanisms.bernoulli`: exact coins of probability exp(-x)
- :mod:`~privet.mechanisms.geometric`: exact geometric draws by a table
- :mod:`~privet.mechanisms.laplace`: discrete Laplace noise, pure epsilon
- :mod:`~privet.mechanisms.shares`: shares of it that several parties add, pure epsilon for their
  sum
- :mod:`~privet.mechanisms.gaussian`: discrete Gaussian noise, zCDP
- :mod:`~privet.mechanisms.selection`: permute-and-flip and the exponential mechanism
- :mod:`~privet.mechanisms.criteria`: scores of splits with their ranges, for selection
- :mod:`~privet.mechanisms.response`: randomised response

Every sampler works in integers only and follows its stated law exactly; each mechanism states its
sensitivity, neighbours and cost.
"""
