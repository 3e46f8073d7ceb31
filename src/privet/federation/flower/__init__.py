"""Privet as a Flower app: parties add up their counts by Flower's secure aggregation, and only the
sum is seen.

Needs ``privet[flower]``; only the two apps import Flower.

- :mod:`~privet.federation.flower.terms`: what a round is about, as the server offers it
- :mod:`~privet.federation.flower.party`: one party: its table, its ledger, what it accepts
- :mod:`~privet.federation.flower.encoding`: how whole numbers pass through SecAgg+ exactly
- :mod:`~privet.federation.flower.masks`: masks that are as secret as their seeds
- :mod:`~privet.federation.flower.guard`: what a party checks at every stage of SecAgg+
- :mod:`~privet.federation.flower.client`: the client app, one per party
- :mod:`~privet.federation.flower.server`: the server app
- :mod:`~privet.federation.flower.trust`: the trust model in words, for the privacy statement
"""
