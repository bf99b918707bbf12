"""A small OpenML on loopback: REST v1 as far as the openml package uses it, with a switch for each way it fails."""

import re
import threading
import time
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from openml_content import RUNS, SUITES, TABLES, TASKS

XMLNS = 'xmlns:oml="http://openml.org/openml"'
API_KEY = "5f3c9e1d7a2b4860c0ffee0123456789"


@dataclass
class Fault:
    """What goes wrong with requests whose path matches, for the next `times` of them."""

    pattern: str
    kind: str
    times: float = float("inf")


@dataclass
class Answer:
    status: int
    body: bytes
    type: str = "text/xml; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)


def error(code: int, message: str, status: int = 412) -> Answer:
    text = f"<oml:error {XMLNS}><oml:code>{code}</oml:code><oml:message>{message}</oml:message></oml:error>"
    return Answer(status, text.encode())


class OpenMLServer:
    """Runs while it is entered; `address` is what openml calls the server."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.seen: list[str] = []
        self.flows: dict[int, str] = {}
        self.uploads: list[dict[str, str]] = []
        self.closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._http.daemon_threads = True
        self._http.openml = self  # type: ignore[attr-defined]
        self.root = f"http://127.0.0.1:{self._http.server_port}"
        self.address = f"{self.root}/api/v1/xml"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def fail(self, pattern: str, kind: str, times: float = float("inf")) -> None:
        """From now on requests that match end in `kind`: a status such as 500, busy, truncated, cut or hang."""
        self.faults.append(Fault(pattern, kind, times))

    def recover(self) -> None:
        """Remove all faults."""
        self.faults.clear()

    def asked(self, pattern: str) -> int:
        """How often something was asked for."""
        return sum(re.search(pattern, path) is not None for path in self.seen)

    def fault(self, path: str) -> str | None:
        for fault in self.faults:
            if fault.times > 0 and re.search(fault.pattern, path):
                fault.times -= 1
                return fault.kind
        return None

    def get(self, path: str) -> Answer:
        api = path.removeprefix("/api/v1/xml")
        for pattern, handler in _GET:
            match = re.fullmatch(pattern, api)
            if match:
                text = handler(self, *match.groups())
                if isinstance(text, str):
                    return Answer(200, text.encode())
                return text  # type: ignore[no-any-return]
        return Answer(404, b"<html><body>Not found</body></html>", "text/html")

    def post(self, path: str, form: dict[str, str]) -> Answer:
        if form.get("api_key") != API_KEY:
            return error(103, "Authentication failed")
        if path.endswith("/flow/exists"):
            known = [number for number, text in self.flows.items() if f"<oml:name>{form['name']}</oml:name>" in text]
            number = known[0] if known else -1
            found = f"<oml:exists>{bool(known)}</oml:exists><oml:id>{number}</oml:id>"
            return Answer(200, f"<oml:flow_exists {XMLNS}>{found}</oml:flow_exists>".encode())
        if path.endswith("/flow/"):
            number = 20_000 + len(self.flows)
            added = f"<oml:id>{number}</oml:id><oml:uploader>1</oml:uploader>"
            self.flows[number] = form["description"].replace(f"<oml:flow {XMLNS}>", f"<oml:flow {XMLNS}>{added}")
            return Answer(200, f"<oml:upload_flow {XMLNS}><oml:id>{number}</oml:id></oml:upload_flow>".encode())
        if path.endswith("/run/"):
            self.uploads.append(form)
            number = 900_000 + len(self.uploads)
            return Answer(200, f"<oml:upload_run {XMLNS}><oml:run_id>{number}</oml:run_id></oml:upload_run>".encode())
        return error(100, "Function not valid")


def _data(server: OpenMLServer, number: str) -> Any:
    table = TABLES.get(int(number))
    return table.description(server.root) if table else error(111, "Unknown dataset")


def _qualities(_: OpenMLServer, number: str) -> Any:
    table = TABLES[int(number)]
    return table.quality_list() if table.qualities else error(362, "No qualities found")


def _task(server: OpenMLServer, number: str) -> Any:
    task = TASKS.get(int(number))
    return task.xml(server.root) if task else error(151, "Unknown task")


def _parquet(_: OpenMLServer, number: str) -> Answer:
    headers = {"ETag": '"5d41402abc4b2a76"', "Last-Modified": "Wed, 21 Oct 2020 07:28:00 GMT"}
    return Answer(200, TABLES[int(number)].parquet(), "application/octet-stream", headers)


def _suite(_: OpenMLServer, number: str) -> Any:
    if int(number) not in SUITES:
        return error(601, "Study does not exist. ")
    tasks = "".join(f"<oml:task_id>{task}</oml:task_id>" for task in SUITES[int(number)])
    return f"""<oml:study {XMLNS}>
<oml:id>{number}</oml:id><oml:alias>OpenML-CC18</oml:alias><oml:main_entity_type>task</oml:main_entity_type>
<oml:name>OpenML-CC18</oml:name><oml:description>a suite</oml:description><oml:visibility>public</oml:visibility>
<oml:status>active</oml:status><oml:creation_date>2019-02-16T23:48:06</oml:creation_date><oml:creator>1</oml:creator>
<oml:data><oml:data_id>31</oml:data_id></oml:data><oml:tasks>{tasks}</oml:tasks></oml:study>"""


def _evaluations(_: OpenMLServer, filters: str) -> Any:
    words = filters.strip("/").split("/")
    asked = dict(zip(words[::2], words[1::2], strict=True))
    runs = [
        run
        for run in RUNS
        if asked["function"] in run.scores
        and str(run.task) in asked["task"].split(",")
        and str(run.flow) in asked["flow"].split(",")
    ]
    first = int(asked.get("offset", 0))
    runs = runs[first : first + int(asked["limit"])]
    if not runs:
        return error(542, "No results")
    parts = "".join(run.evaluation(asked["function"]) for run in runs)
    return f"<oml:evaluations {XMLNS}>{parts}</oml:evaluations>"


def _setups(_: OpenMLServer, numbers: str) -> Any:
    wanted = {int(number) for number in numbers.split(",")}
    parts = "".join(run.setup_xml() for run in RUNS if run.setup in wanted)
    return f"<oml:setups {XMLNS}>{parts}</oml:setups>"


_GET: list[tuple[str, Any]] = [
    (r"/data/(\d+)", _data),
    (r"/data/features/(\d+)", lambda _, number: TABLES[int(number)].features()),
    (r"/data/qualities/(\d+)", _qualities),
    (r"/task/(\d+)", _task),
    (r"/study/(\d+)", _suite),
    (r"/evaluation/list(/.*)", _evaluations),
    (r"/setup/list/setup/([\d,]+)/.*", _setups),
    (
        r"/user/list/user_id/(\d+)",
        lambda *_: (
            f"<oml:users {XMLNS}><oml:user><oml:id>1</oml:id><oml:username>bot</oml:username></oml:user></oml:users>"
        ),
    ),
    (r"/flow/(\d+)", lambda server, number: server.flows[int(number)]),
    (r"/data/v1/download/(\d+)/.*", lambda _, number: TABLES[int(number)].arff()),
    (r"/api_splits/get/(\d+)/.*", lambda _, number: TASKS[int(number)].splits()),
    (r"/datasets/\d+/0*(\d+)/dataset_\d+.pq", _parquet),
]


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._answer(lambda server, path: server.get(path))

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        form = _form(self.headers["Content-Type"], body)
        self._answer(lambda server, path: server.post(path, form))

    def _answer(self, handle: Any) -> None:
        server: OpenMLServer = self.server.openml  # type: ignore[attr-defined]
        path = urlsplit(self.path).path
        server.seen.append(f"{self.command} {self.path}")
        kind = server.fault(path)
        if kind == "hang":
            server.closing.wait(30)
            return
        if kind == "slow":
            time.sleep(0.3)
        if kind == "busy":
            answer = error(107, "Database connection error. Usually due to high server load.")
        elif kind is not None and kind.isdigit():
            answer = Answer(int(kind), f"<html><hr><h1>{kind} Bad</h1></html>".encode(), "text/html")
        else:
            answer = handle(server, path)
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.type)
        if kind != "cut":
            self.send_header("Content-Length", str(len(answer.body)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            is_short = kind in ("truncated", "cut")
            self.wfile.write(answer.body[: len(answer.body) // 2] if is_short else answer.body)

    def log_message(self, *_: object) -> None:
        pass


def _form(kind: str, body: bytes) -> dict[str, str]:
    if kind.startswith("application/x-www-form-urlencoded"):
        return {name: values[0] for name, values in parse_qs(body.decode()).items()}
    message = BytesParser(policy=HTTP).parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
    return {
        str(part.get_param("name", header="content-disposition")): part.get_payload(decode=True).decode()  # type: ignore[union-attr]
        for part in message.iter_parts()  # type: ignore[attr-defined]
    }
