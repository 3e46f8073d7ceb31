"""Keep account of what privacy costs.

- :mod:`~privet.accounting.cost`: exact amounts of epsilon and rho, composition, budgets
- :mod:`~privet.accounting.conversion`: convert zCDP into (epsilon, delta), and back
- :mod:`~privet.accounting.statement`: the privacy statement of a release
- :mod:`~privet.accounting.ledger`: the durable record of every charge
"""
