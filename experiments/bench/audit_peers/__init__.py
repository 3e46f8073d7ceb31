"""Do the peers keep what they promise? Their fitted models in two worlds, audited by
``privet.audit``.

- :mod:`~experiments.bench.audit_peers.cases`: what is audited: worlds, settings, what is promised
- :mod:`~experiments.bench.audit_peers.remarks`: what each peer says, why a promise fails, and how a
  user avoids it
- :mod:`~experiments.bench.audit_peers.fits`: the process that fits the peers in their own
  environment, and what an adversary sees of a model
- :mod:`~experiments.bench.audit_peers.audits`: from a case to a result
- :mod:`~experiments.bench.audit_peers.dealing`: what one of the faults truly costs, computed
- :mod:`~experiments.bench.audit_peers.report`: the page and the CSV file

Nothing is imported here: fits runs in the peers' environment, where Privet is not.
"""
