"""Ask a curator over HTTP as if it were in this process.

- :mod:`~privet.client.curator`: ``connect`` and ``RemoteCurator``
- :mod:`~privet.client.session`: one data set at a curator, and the replies it gives
- :mod:`~privet.client.transport`: HTTP to one server, and its problems as errors
- :mod:`~privet.client.address`: check addresses and tokens before anything is sent
"""
