"""Learn trees on a table at a server that must not understand it (Mancuhan and Clifton
2014; Nergiz and Clifton 2011).

The owner splits the table in two halves that only a key can join. A server holds both, never the
key, and grows a tree from what identifies people. A client with the key refines the leaves that
predictions reach, and leaves the refinements with the server, sealed. This is anatomization, not
differential privacy.

- :mod:`~privet.outsource.anatomy`: what is public about such a table
- :mod:`~privet.outsource.split`, :mod:`~privet.outsource.files`: split it into groups and files
- :mod:`~privet.outsource.verify`: check a split, and attack it yourself
- :mod:`~privet.outsource.cipher`, :mod:`~privet.outsource.client`: the side with the key
- :mod:`~privet.outsource.server`, :mod:`~privet.outsource.store`: the side without it
- :mod:`~privet.outsource.attack`: what an adversary would learn
- :mod:`~privet.outsource.card`: the card of an outsourced tree
"""
