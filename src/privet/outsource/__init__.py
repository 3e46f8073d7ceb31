"""Trees on a table that is stored where it must not be understood (Mancuhan and Clifton 2014;
Nergiz and Clifton 2011).

The owner splits the table in two halves that only a key can join. A server holds both, never the
key, and grows a tree from what identifies people. A client with the key refines the leaves that
predictions reach, and leaves the refinements with the server, sealed. This is anatomization, not
differential privacy.
"""
