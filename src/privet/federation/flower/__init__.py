"""Run Privet as a Flower app: secure aggregation shows only the sum of counts.

Needs ``privet[flower]``; only the two apps import Flower.

- :mod:`~privet.federation.flower.client`, :mod:`~privet.federation.flower.server`: the two apps
- :mod:`~privet.federation.flower.party`: one party: its table, its ledger, what it accepts
- :mod:`~privet.federation.flower.terms`: what a round is about, and what has to be trusted
- :mod:`~privet.federation.flower.encoding`: integers and masks that pass through SecAgg+ exactly
"""
