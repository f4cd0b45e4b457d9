"""A control socket for machines that share no folder: ``stepscope capture HOST:PORT`` asks it.

Off unless ``STEPSCOPE_CONTROL`` names an address. It serves the watched folder of its machine: who
may talk to it can read what the ranks tell of themselves, and replace the configuration. So it
listens on the loopback address only, or else with TLS and a token:

    STEPSCOPE_CONTROL        HOST:PORT
    STEPSCOPE_CONTROL_TOKEN  what a caller must know
    STEPSCOPE_CONTROL_CERT, STEPSCOPE_CONTROL_KEY
                             certificate and key, PEM files

The first rank of a machine that gets the port serves it for all of them.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import hmac
import io
import ipaddress
import json
import os
import socket
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from socketserver import TCPServer
from typing import Any

from stepscope.profiler.dynamic.config import ConfigError, read
from stepscope.profiler.dynamic.config_file import ConfigFile
from stepscope.profiler.dynamic.status import FOLDER, is_running

VARIABLE = "STEPSCOPE_CONTROL"
_LARGEST_BODY = 1 << 20
_PATIENCE = 10.0  # seconds for a caller to say what it wants, all in all
_LOOK = 0.5  # seconds until the end is noticed


class Control:
    """Listens until ``close``. Raises OSError or ValueError with the reason if it cannot."""

    def __init__(self, address: str, file: Path) -> None:
        host, port = _parsed(address)
        token = os.environ.get(f"{VARIABLE}_TOKEN", "")
        certificate = os.environ.get(f"{VARIABLE}_CERT", "")
        if not _is_loopback(host) and not (token and certificate):
            raise ValueError(
                f"{VARIABLE} {address}: other machines could reach it; give it a token and a "
                f"certificate ({VARIABLE}_TOKEN, _CERT, _KEY), or a loopback address"
            )
        self._server = _Server((host, port), file, token)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.minimum_version = ssl.TLSVersion.TLSv1_2
            try:
                context.load_cert_chain(certificate, os.environ.get(f"{VARIABLE}_KEY") or None)
            except BaseException:
                self._server.server_close()
                raise
            self._server.tls = context
        self._thread = threading.Thread(target=self._serve, name="stepscope-control", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Waits a moment; a caller that is slow does not hold the training up."""
        self._server.closing = True
        self._thread.join(2 * _LOOK)
        self._server.server_close()

    def _serve(self) -> None:
        # At the end of an interpreter, or once it is closed, anything may be gone.
        with contextlib.suppress(Exception):
            while not self._server.closing:
                self._server.handle_request()

    def forget(self) -> None:
        """In a forked child."""
        self._server.server_close()


def open_control(address: str, file: Path) -> Control | None:
    """None where another rank of this machine has it."""
    try:
        return Control(address, file)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return None
        raise


def _parsed(address: str) -> tuple[str, int]:
    host, separator, port = address.rpartition(":")
    if not separator or not host or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise ValueError(f"{VARIABLE} must be HOST:PORT, not {address!r}")
    return host.strip("[]"), int(port)


def _is_loopback(host: str) -> bool:
    try:
        found = {entry[4][0] for entry in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    return bool(found) and all(ipaddress.ip_address(one).is_loopback for one in found)


def _names_loopback(host: str) -> bool:
    """Of a header, with or without a port. Nothing is looked up: names are what is not trusted."""
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    if name.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


class _Server(HTTPServer):
    """One caller at a time: there is one person who asks."""

    allow_reuse_address = True
    timeout = _LOOK

    def __init__(self, address: tuple[str, int], file: Path, token: str) -> None:
        self.closing = False
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.file = ConfigFile(file)
        self.token = token
        self.tls: ssl.SSLContext | None = None
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        TCPServer.server_bind(self)  # HTTPServer's would ask for the host's name: slow at times
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]

    def get_request(self) -> tuple[Any, Any]:
        connection, caller = super().get_request()
        try:
            connection.settimeout(_LOOK if self.closing else _PATIENCE)
            if self.tls:
                connection = self.tls.wrap_socket(connection, server_side=True)
        except BaseException:
            connection.close()
            raise
        return connection, caller

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that hangs up is no matter of the training's log."""


class _Incoming(io.RawIOBase):
    """What a caller sends, until it is out of time: one byte every nine seconds is no way to keep
    the others waiting."""

    def __init__(self, connection: socket.socket, server: _Server) -> None:
        self._connection = connection
        self._server = server
        self._end = time.monotonic() + _PATIENCE

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._server.closing and time.monotonic() < self._end:
            self._connection.settimeout(_LOOK)
            with contextlib.suppress(socket.timeout):
                return self._connection.recv_into(buffer)
        raise TimeoutError("the caller is too slow")


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.0"

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self.rfile = io.BufferedReader(_Incoming(self.connection, self.server))

    def do_GET(self) -> None:
        if not self._admitted():
            return
        if self.path == "/ranks":
            self._send(200, {"folder": str(self.server.file.path.parent), "ranks": self._ranks()})
        elif self.path == "/config":
            text = self._config()
            self._send(200, {"text": text, "version": _version(text)})
        else:
            self._send(404, {"error": "there is /ranks and /config"})

    def do_PUT(self) -> None:
        if not self._admitted():
            return
        length = self.headers.get("Content-Length", "")
        if self.path != "/config" or not length.isdigit() or int(length) > _LARGEST_BODY:
            self._send(400, {"error": "a configuration of at most 1 MiB goes to /config"})
            return
        body = self.rfile.read(int(length))
        try:
            if read(body).folder and not self.server.token:
                # Any user of this machine could choose where the training writes.
                raise ConfigError("prof_path needs a token here")
        except ConfigError as error:
            self._send(400, {"error": str(error)})
            return
        with self.server.file.locked():
            # The caller has read the file before: another may have written it meanwhile.
            if self.headers.get("If-Match", "") != _version(self._config()):
                self._send(412, {"error": "another has written the configuration meanwhile"})
                return
            self.server.file.write(body)
        self._send(200, {"version": _version(body.decode())})

    def _admitted(self) -> bool:
        given = self.headers.get("Authorization", "")
        wanted = f"Bearer {self.server.token}"
        if self.server.token:
            if hmac.compare_digest(given.encode(), wanted.encode()):
                return True
            self._send(401, {"error": f"the token is wrong, see {VARIABLE}_TOKEN"})
            return False
        # A page whose site gave its own name this machine's address asks in that name.
        if _names_loopback(self.headers.get("Host", "")):
            return True
        self._send(403, {"error": "without a token it answers to localhost and 127.0.0.1 only"})
        return False

    def _config(self) -> str:
        try:
            return self.server.file.path.read_text(errors="replace")
        except OSError:
            return ""

    def _ranks(self) -> list[dict[str, Any]]:
        found = []
        for path in sorted((self.server.file.path.parent / FOLDER).glob("rank_*.json")):
            with contextlib.suppress(OSError, ValueError):
                told = json.loads(path.read_bytes())
                if isinstance(told, dict):
                    found.append({**told, "alive": is_running(told)})
        return found

    def _send(self, code: int, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.connection.settimeout(_PATIENCE)
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *_: Any) -> None:
        """The training's log is not the place."""


def _version(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
