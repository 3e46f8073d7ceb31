"""The analyst's side of a curator that is asked over HTTP. It is asked as one in this process is.

- :mod:`~privet.remote.connect`: ``connect``, from an address and a token to a curator
- :mod:`~privet.remote.curator`: the curator: what is left, what was spent, receipts
- :mod:`~privet.remote.part`: a group of its people
- :mod:`~privet.remote.asking`: how both are asked
- :mod:`~privet.remote.session`: one data set: its public facts, the open snapshot, keys of
  questions
- :mod:`~privet.remote.replies`: answers are what was asked for, or they are not taken
- :mod:`~privet.remote.transport`: HTTP: the token stays with one host, a question is sent until it
  is answered, and paid once
- :mod:`~privet.remote.problems`: from a problem that a curator reports to the error that it raises
  in process
"""
