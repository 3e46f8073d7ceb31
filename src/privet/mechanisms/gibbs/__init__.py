"""Draw a whole labelled tree by the exponential mechanism.

- :mod:`~privet.mechanisms.gibbs.plan`: lay a space of trees out in flat arrays
- :mod:`~privet.mechanisms.gibbs.kernels`: the dynamic program over trees, compiled
- :mod:`~privet.mechanisms.gibbs.draw`: one exact draw
- :mod:`~privet.mechanisms.gibbs.slack`: bound what floating point can cost
"""
