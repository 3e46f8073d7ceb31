"""An analyst cannot ask the service for a share of the noise: alone it promises nothing."""

from __future__ import annotations


def test_the_service_has_no_question_for_shares(ada, state):
    body = {"epsilon": "1/10", "cells": [[{}]]}
    assert ada.post("count", body, key="first").status_code == 200
    charged = len(list(state.ledger.journal()))
    refused = ada.post("share", {**body, "parties": 3}, key="second")
    assert refused.status_code == 404
    assert not any("share" in path for path in ada.get("openapi.json").json()["paths"])
    assert ada.post("count", {**body, "parties": 3}, key="third").status_code == 422
    assert len(list(state.ledger.journal())) == charged
