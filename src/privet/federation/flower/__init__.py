"""Run Privet as a Flower app: parties take turns on one model, or add up counts in a secure sum.

Needs ``privet[flower]``; only the apps import Flower.

- :mod:`~privet.federation.flower.relay_client`, :mod:`~privet.federation.flower.relay_server`: the
  two apps of a relay
- :mod:`~privet.federation.flower.relay_party`: one party of a relay: what it signs, what it pays

The secure sum:

- :mod:`~privet.federation.flower.client`, :mod:`~privet.federation.flower.server`: the two apps
- :mod:`~privet.federation.flower.party`: one party: its table, its ledger, what it accepts
- :mod:`~privet.federation.flower.terms`: what a round is about, and what has to be trusted
- :mod:`~privet.federation.flower.encoding`: integers and masks that pass through SecAgg+ exactly
"""
