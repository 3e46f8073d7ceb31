"""``connect``: from the address of a curator to a curator."""

from __future__ import annotations

from os import PathLike

from privet.errors import AccessError, ParameterError
from privet.ledger.base import check_name
from privet.remote.address import find_token
from privet.remote.curator import RemoteCurator
from privet.remote.replies import understood
from privet.remote.session import Session
from privet.remote.transport import Link
from privet.text import escape_invisible


def connect(
    url: str,
    token: str | None = None,
    dataset: str | None = None,
    *,
    timeout: float = 300.0,
    retry_for: float = 30.0,
    ca: str | PathLike[str] | None = None,
    insecure: bool = False,
) -> RemoteCurator:
    """A curator that is asked over HTTP: learners train through it, models are evaluated with it,
    and it never shows a row.

    Args:
        url: where it is, such as ``"https://curator.example"``; plain ``http://`` is for this
            machine.
        token: as the owner gave it; by default that of the environment variable PRIVET_TOKEN.
        dataset: what to ask about; by default the one data set that the token is granted.
        timeout: seconds to wait for an answer.
        retry_for: seconds after a first failure in which a question is sent again; it is charged
            once.
        ca: a file with the certificates to trust, in place of the usual ones.
        insecure: allow plain HTTP to another machine, where anybody in between can read the answers
            and use the token.
    """
    check_name("dataset", dataset)
    link = Link(
        url,
        find_token(token),
        timeout=timeout,
        retry_for=retry_for,
        ca=ca,
        insecure=insecure,
    )
    try:
        return RemoteCurator(
            Session(link, _find_only_dataset(link) if dataset is None else dataset)
        )
    except BaseException:
        link.close()
        raise


def _find_only_dataset(link: Link) -> str:
    told = link.get("/datasets")
    with understood("list of data sets"):
        names = [str(one["name"]) for one in told["datasets"]]
    if not names:
        raise AccessError(f"{link} grants this token no data set")
    if len(names) > 1:
        raise ParameterError(
            "dataset must be one of those that the token is granted: "
            f"{', '.join(map(escape_invisible, names))}"
        )
    return names[0]
