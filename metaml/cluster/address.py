"""Where a Dask scheduler is, and by which right a connection to it is made.

Whoever reaches a scheduler can run code on all its workers. So a connection beyond this machine needs TLS.
"""

from __future__ import annotations

import json
import ssl
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from metaml.errors import BadRequest

if TYPE_CHECKING:
    from distributed import Security

CERTIFICATES = (
    "openssl req -x509 -newkey rsa:3072 -nodes -days 365 -subj /CN=metaml -keyout key.pem -out cert.pem makes "
    "certificates; give scheduler, workers and this command --tls-ca cert.pem --tls-cert cert.pem --tls-key key.pem "
    "(for dask scheduler: --tls-ca-file)"
)
EXAMPLE = "Write it as tls://HOST:8786, tcp://127.0.0.1:8786 or FILE.json"


@dataclass(frozen=True)
class Tls:
    """The files of a TLS connection: who is trusted, who we are, and the key that proves it."""

    ca: Path
    cert: Path
    key: Path


@dataclass(frozen=True)
class SchedulerAddress:
    """A scheduler: an address, or a file that it writes its address into. Make it with `scheduler_address`."""

    text: str
    tls: Tls | None = None
    is_insecure: bool = False

    @property
    def file(self) -> Path | None:
        """Return the file that holds the address, if there is one."""
        return None if "://" in self.text else Path(self.text)

    @property
    def url(self) -> str:
        """Return the address as it is now; BadRequest if it cannot be used."""
        url = self.text if self.file is None else _address_in(self.file)
        scheme = urlsplit(url).scheme
        if scheme not in ("tcp", "tls"):
            raise BadRequest(f"{self.text} is not the address of a scheduler. {EXAMPLE}.")
        if scheme == "tls" and self.tls is None:
            raise BadRequest(f"{url} needs --tls-ca, --tls-cert and --tls-key. {CERTIFICATES}.")
        if scheme == "tcp" and not is_loopback(url) and not self.is_insecure:
            raise BadRequest(
                f"{url} is beyond this machine and not encrypted: anyone who reaches it can run code on its workers. "
                f"Use tls://. {CERTIFICATES}. In a network that you trust, add --insecure-scheduler."
            )
        return url

    @property
    def security(self) -> Security | None:
        """Return what Dask needs for TLS, None without it; BadRequest if the files do not fit together."""
        if self.tls is None:
            return None
        from distributed import Security

        check_files(self.tls)
        names: dict[str, Any] = {"tls_ca_file": str(self.tls.ca), "require_encryption": True}
        for role in ("client", "worker", "scheduler"):
            names |= {f"tls_{role}_cert": str(self.tls.cert), f"tls_{role}_key": str(self.tls.key)}
        return Security(**names)


def scheduler_address(
    text: str,
    *,
    tls_ca: str | Path | None = None,
    tls_cert: str | Path | None = None,
    tls_key: str | Path | None = None,
    is_insecure: bool = False,
) -> SchedulerAddress:
    """Return the address of a scheduler; BadRequest if it may not be used, or says nothing.

    >>> scheduler_address("tcp://127.0.0.1:8786").url
    'tcp://127.0.0.1:8786'
    """
    if not text.strip():
        raise BadRequest(f"The address of the scheduler is empty. {EXAMPLE}.")
    given = [path for path in (tls_ca, tls_cert, tls_key) if path is not None]
    if len(given) not in (0, 3):
        raise BadRequest(f"TLS needs all of --tls-ca, --tls-cert and --tls-key. {CERTIFICATES}.")
    tls = Tls(*(Path(path) for path in given)) if given else None
    found = SchedulerAddress(text, tls, is_insecure)
    _ = found.url
    if tls is not None:
        check_files(tls)
    return found


def check_files(tls: Tls) -> None:
    """Raise BadRequest unless the certificate files can be read and the key belongs to the certificate."""
    for path in (tls.ca, tls.cert, tls.key):
        if not path.is_file():
            raise BadRequest(f"There is no file {path}. {CERTIFICATES}.")
    try:
        context = ssl.create_default_context(cafile=str(tls.ca))
        context.load_cert_chain(str(tls.cert), str(tls.key))
    except (ssl.SSLError, OSError) as error:
        why = getattr(error, "reason", None) or str(error)
        raise BadRequest(
            f"{tls.cert} and {tls.key} are not a certificate and its key ({why}). {CERTIFICATES}."
        ) from None


def is_loopback(url: str) -> bool:
    """Return whether an address is on this machine.

    >>> is_loopback("tcp://127.0.0.1:8786"), is_loopback("tcp://[::1]:8786"), is_loopback("tcp://10.0.0.1:8786")
    (True, True, False)
    """
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _address_in(path: Path) -> str:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return str(content["address"])
    except FileNotFoundError:
        raise BadRequest(
            f"There is no file {path}. Start a scheduler that writes it, or give an address. {EXAMPLE}."
        ) from None
    except (OSError, ValueError, KeyError, TypeError):
        raise BadRequest(f"{path} is not a file that a scheduler writes. {EXAMPLE}.") from None
