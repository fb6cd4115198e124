"""`aop dev`: the whole service on one machine, and a folder whose documents count as saved when their files change."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final
from urllib.error import URLError
from urllib.request import urlopen

from watchfiles import watch

from catalog.own import SERVERS
from cli import streams
from cli.dev_catalog import CatalogNews
from cli.dev_report import Reporter
from cli.discovery import all_folder_documents
from cli.exits import OK
from cli.messages import say
from cli.service import load_settings, stop_on_signals
from cli.trouble import Trouble
from pipeline.diagnostics.lang import Lang
from workers import logs
from workers.archive import Archive
from workers.catalogs import sources_of
from workers.connections import open_ledger, open_redis, open_store
from workers.faults import SYSTEM
from workers.intake import Intake, IntakeContended, open_installation
from workers.ledger.ledger import Ledger
from workers.ledger.recompiles import Recompiles
from workers.ledger.records import STAGES, LedgerLost
from workers.local.folder_source import SOURCE, FolderSource
from workers.local.seaweedfs import REGION, SeaweedFS
from workers.local.servers import HOST, ServerNotStarted, free_ports, is_free
from workers.local.supervisor import Supervisor
from workers.local.valkey import Valkey
from workers.reindex import reindex
from workers.settings import Settings
from workers.tokens import Tokens

_READY_S: Final = 60.0
_PORT_S: Final = 5.0
_BUCKET: Final = "aop"
_DEV: Final = "dev"
_SHELL: Final = "env"
_LEADS_HERE: Final = ("AOP_REDIS_", "AOP_STORE", "AOP_S3_", "AOP_WEBHOOK_SECRETS")
_SCOPES: Final = (
    "documents:read",
    "documents:compile",
    "documents:delete",
    "recompile",
    "catalog:read",
    "webhooks",
    "admin",
)


@dataclass(frozen=True, slots=True)
class Dev:
    """`folder`: of the documents. `state`: where Redis, the store, logs and the first token are kept between runs.
    `refresh_s`: how often the folder's imported MCP servers are listed again; None: as AOP_CATALOG_REFRESH_S says."""

    folder: Path
    state: Path
    port: int | None
    s3: bool
    refresh_s: int | None
    lang: Lang


def run(options: Dev) -> int:
    """Until it is asked to end. Raises Trouble, and what opening the store raises."""
    if not options.folder.is_dir():
        raise Trouble("dev.no-folder", path=str(options.folder))
    options.state.mkdir(parents=True, exist_ok=True, mode=0o700)
    stop = stop_on_signals()
    with ExitStack() as resources:
        resources.enter_context(_only_one(options.state))
        try:
            environment, servers = _servers(options, resources)
        except ServerNotStarted as error:
            raise Trouble("dev.server", detail=str(error)) from error
        os.environ.update(environment)
        settings = load_settings()
        logs.configure(settings, "dev")
        redis = resources.enter_context(open_redis(settings))
        store = resources.enter_context(open_store(settings))
        ledger, archive = open_ledger(settings, redis), Archive(store)
        try:
            open_installation(ledger, archive)
        except LedgerLost:
            streams.note(say("dev.reindex", options.lang))
            reindex(ledger, archive)
        tokens = Tokens(store, redis, settings.redis_prefix)
        token = _kept(options.state / "token", lambda: tokens.create(name=_DEV, scopes=_SCOPES)[1])

        supervisor = Supervisor(environment, options.state / "logs")
        resources.callback(supervisor.stop)
        resources.callback(lambda: streams.note(say("dev.stopping", options.lang)))
        for name, arguments in _processes():
            # -P: nothing is imported from the folder in which we were started, where the user may have a `json.py`.
            supervisor.add(name, [sys.executable, "-P", "-m", "cli", *arguments])
        if not _wait_until_ready(settings, stop):
            if stop.is_set():
                return OK
            raise Trouble("dev.not-ready", path=str(options.state / "logs"))
        _write_shell_file(options.state / _SHELL, environment, _url(settings), token)
        _say_where(options, settings, token)
        _say_unasked(settings, options.lang)

        reporter = Reporter(ledger, archive, options.lang)
        source = FolderSource(
            options.folder,
            lambda: [Path(found.file) for found in all_folder_documents(os.fspath(options.folder), options.state)],
            Intake(ledger, archive).accept,
            settings.max_document_bytes,
            lambda path, error: streams.note(f"{path}: {error.text(options.lang)}"),
            known=_known(ledger, archive),
        )
        recompiles = Recompiles(ledger, redis, settings.redis_prefix)
        news = CatalogNews(sources_of(settings), recompiles, options.lang)
        threads = [
            threading.Thread(target=_watch, args=(options, source, news, stop), name="watch"),
            threading.Thread(target=reporter.follow, args=(stop,), name="report"),
        ]
        # Also where this ends by a fault: else they would go on, and the process with them.
        resources.callback(stop.set)
        for thread in threads:
            thread.start()
        while not stop.wait(0.2):
            _revive(servers, options.lang)
            for name, status in supervisor.look():
                streams.note(say("dev.ended", options.lang, name=name, status=status))
        for thread in threads:
            thread.join(timeout=10)
    return OK


def _only_one(state: Path) -> IO[str]:
    """Two would share one Redis and one store under each other's feet."""
    file = (state / "lock").open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise Trouble("dev.running", path=str(state)) from None
    return file


def _servers(options: Dev, resources: ExitStack) -> tuple[dict[str, str], list[Valkey | SeaweedFS]]:
    """Started; the settings of all processes. Raises ServerNotStarted, Trouble."""
    state = options.state.absolute()
    port = _port(state) if options.port is None else options.port
    if not is_free(port):
        raise Trouble("dev.port", port=port)
    valkey = resources.enter_context(Valkey(state / "redis", bound=True))
    servers: list[Valkey | SeaweedFS] = [valkey]
    (exporter,) = free_ports(1)
    environment = {
        "AOP_REDIS_URL": valkey.url,
        "AOP_STORE": f"file:{state / 'store'}",
        "AOP_CATALOG_FOLDER": str(options.folder.absolute()),
        "AOP_HOST": HOST,
        "AOP_PORT": str(port),
        "AOP_EXPORTER_PORT": str(exporter),
        "AOP_METRICS_FOLDER": str(state / "metrics"),
        "AOP_WEBHOOK_SECRETS": _kept(state / "webhook-secret", lambda: f"whsec_{secrets.token_hex(16)}"),
    }
    if options.s3:
        weed = resources.enter_context(SeaweedFS(state / "s3", bound=True))
        servers.append(weed)
        weed.make_bucket(_BUCKET)
        environment |= {
            "AOP_STORE": f"s3://{_BUCKET}/dev",
            "AOP_S3_ENDPOINT": weed.endpoint,
            "AOP_S3_REGION": REGION,
            "AOP_S3_ACCESS_KEY": weed.access_key,
            "AOP_S3_SECRET_KEY": weed.secret_key,
            "AOP_S3_PATH_STYLE": "true",
        }
    if options.refresh_s is not None:
        environment["AOP_CATALOG_REFRESH_S"] = str(options.refresh_s)
    # What the user has set is kept, except for what leads to what this command itself provides.
    kept = {name for name in _OF_THE_USER if name in os.environ}
    return {name: value for name, value in environment.items() if name not in kept}, servers


_OF_THE_USER: Final = frozenset({"AOP_CATALOG_FOLDER", "AOP_METRICS_FOLDER", "AOP_WEBHOOK_SECRETS"})


def _revive(servers: Sequence[Valkey | SeaweedFS], lang: Lang) -> None:
    """With the data, the port and the credentials that it had: who uses it waits, and goes on."""
    for server in servers:
        if server.has_ended:
            streams.note(say("dev.server-again", lang, name=type(server).__name__))
            try:
                server.start()
            except ServerNotStarted as error:
                raise Trouble("dev.server", detail=str(error)) from error


def _processes() -> list[tuple[str, list[str]]]:
    """In the order in which they start; they end the other way round."""
    workers = [(f"worker-{stage}", ["worker", stage, "--class", "both"]) for stage in reversed(STAGES)]
    return [("exporter", ["exporter"]), *workers, ("dispatcher", ["dispatcher"]), ("server", ["server"])]


def _port(state: Path) -> int:
    """The same as last time, so that what a browser or a client remembers stays true; another where it is taken."""
    port = int(_kept(state / "port", lambda: str(free_ports(1)[0])))
    end = time.monotonic() + _PORT_S
    while not is_free(port):
        if time.monotonic() > end:
            (port,) = free_ports(1)
            (state / "port").write_text(str(port))
            break
        time.sleep(0.1)  # the server of one that was killed is just ending
    return port


def _kept(path: Path, make: Callable[[], str]) -> str:
    """What `make` made the first time; only its owner can read it."""
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(make())
    return path.read_text().strip()


def _wait_until_ready(settings: Settings, stop: threading.Event) -> bool:
    end = time.monotonic() + _READY_S
    while time.monotonic() < end and not stop.wait(0.1):
        try:
            with urlopen(f"http://{settings.host}:{settings.port}/readyz", timeout=2):
                return True
        except (URLError, OSError):
            continue
    return False


def _url(settings: Settings) -> str:
    return f"http://{settings.host}:{settings.port}"


def _write_shell_file(path: Path, environment: Mapping[str, str], url: str, token: str) -> None:
    """What leads our other commands to this installation, for a shell to read; only its owner can. The address of Redis
    and its password are others at each start."""
    found = {name: value for name, value in environment.items() if name.startswith(_LEADS_HERE)}
    found |= {"AOP_URL": url, "AOP_TOKEN": token}
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_text("".join(f"export {name}={shlex.quote(value)}\n" for name, value in found.items()))


def _say_where(options: Dev, settings: Settings, token: str) -> None:
    streams.note(
        say(
            "dev.where",
            options.lang,
            url=_url(settings),
            shell=str(options.state / _SHELL),
            token=token,
            folder=str(options.folder),
            logs=str(options.state / "logs"),
            metrics=f"http://{settings.exporter_host}:{settings.exporter_port}/metrics",
        )
    )


def _say_unasked(settings: Settings, lang: Lang) -> None:
    """That imported servers could be asked again. Not done unasked: else looking at a folder that somebody else made
    would run the commands of its mcp.json."""
    sources = sources_of(settings)
    folder = sources.folder
    if folder and not settings.catalog_refresh_s and sources.own().imported and (folder / SERVERS).exists():
        streams.note(say("dev.refresh", lang, servers=SERVERS))


def _known(ledger: Ledger, archive: Archive) -> dict[str, str]:
    """The revisions of those documents that came from the folder and were not retired: their files may have changed or
    gone while nobody looked."""
    states = ((identity, ledger.document(identity)) for identity in ledger.documents())
    newest = {identity: found.sequence for identity, found in states if found is not None}
    saves = archive.saves(newest)
    return {
        identity: save.revision
        for identity, save in saves.items()
        if save.source == SOURCE and save.action == "compile"
    }


def _watch(options: Dev, source: FolderSource, news: CatalogNews, stop: threading.Event) -> None:
    """A change wakes us; what is there now decides, and is looked at once a second whether something woke us or not."""
    told = False
    for _ in _wakings(options, stop):
        try:
            source.look()
            news.look()
            told = False
        except (*SYSTEM, IntakeContended) as error:
            if not told:
                streams.note(say("dev.not-saved", options.lang, detail=str(error)))
            told = True


def _wakings(options: Dev, stop: threading.Event) -> Iterator[object]:
    ignored = os.fspath(options.state.absolute())
    # Where the system has no more to watch files with, we look all the same.
    with contextlib.suppress(OSError):
        yield from watch(
            options.folder,
            watch_filter=lambda _, path: not path.startswith(ignored),
            debounce=150,
            step=30,
            rust_timeout=1_000,
            yield_on_timeout=True,
            stop_event=stop,
            raise_interrupt=False,
            ignore_permission_denied=True,
        )
    while not stop.wait(1.0):
        yield None
