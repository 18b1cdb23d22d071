"""The processes that compute: a server's own, or those that belong to a Dask scheduler, on any number of machines.

Each has one thread: sums come out the same on every machine, and two workers do not fight for the cores. Whoever can
speak to a scheduler can run any program on its workers; beyond one machine, certificates keep others away.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from distributed import Client, LocalCluster, Nanny, WorkerPlugin
from distributed.comm import connect
from distributed.security import Security
from geodrome.errors import ComputeUnavailable

from geodrome_service import logs
from geodrome_service.compute.pool import Pool
from geodrome_service.settings import Settings

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")

CONNECT_TIMEOUT_S = 5.0

START_TIMEOUT_S = 120.0  # several processes that import torch at once, on a machine that has other work

START_TRIES = 3

KILL_AFTER_S = 1.0  # an idle worker ends in a few hundredths of that

RETRY_AFTER_S = 2.0

log = logging.getLogger("geodrome.service")


def open_pool(settings: Settings) -> AbstractAsyncContextManager[Pool]:
    """The pool that the settings name, for as long as the context lasts."""
    return _own_pool(settings) if settings.compute is None else _shared_pool(settings)


def expect_the_end() -> None:
    """From now on it is no news that workers and connections vanish: nobody is to be told."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)


class Warm(WorkerPlugin):  # type: ignore[misc] # distributed has no types
    """Makes each worker, a replaced one too, ready for its first question.

    Args:
        how: How it logs.
    """

    name = "warm"

    def __init__(self, how: logs.Logging) -> None:
        self.how = how

    def setup(self, worker: object) -> None:
        """Unpickling this class has imported this module, and torch with it."""
        del worker
        logs.configure(self.how)
        # Ctrl-C and service managers signal the whole group; workers are ended by who started them, in its order.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


class Scheduler:
    """A scheduler elsewhere, connected to when it is needed, and anew when it has been away.

    Args:
        address: Such as ``tcp://10.0.0.5:8786``.
        security: Certificates, or None without TLS.
    """

    def __init__(self, address: str, security: Security | None) -> None:
        self._address = address
        self._security = security
        self._client: Client | None = None
        self._connecting = asyncio.Lock()

    async def client(self) -> Client:
        """A client that is connected.

        Raises:
            ComputeUnavailable: The scheduler does not answer.
        """
        async with self._connecting:
            if self._client is not None and self._client.status == "running":
                return self._client
            await self.close()
            try:
                self._client = await Client(
                    self._address,
                    asynchronous=True,
                    security=self._security,
                    set_as_default=False,
                    timeout=CONNECT_TIMEOUT_S,
                )
            except (OSError, TimeoutError) as error:
                raise ComputeUnavailable(f"the scheduler at {self._address} does not answer") from error
            return self._client

    async def close(self) -> None:
        """Leaves the scheduler."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.close()


async def work(settings: Settings, stopping: asyncio.Event) -> None:
    """Runs workers of a scheduler elsewhere until ``stopping``; where the scheduler goes away, waits for it.

    Args:
        settings: Which scheduler, and how many workers.
        stopping: Set when they are to end.
    """
    how = logs.logging_of(settings.log_format, settings.log_level)
    ended = asyncio.create_task(stopping.wait())
    while not ended.done():
        workers = [
            Nanny(
                settings.compute,
                nthreads=1,
                security=security(settings),
                env=ONE_THREAD,
                plugins=(Warm(how),),
                death_timeout=START_TIMEOUT_S,
                reconnect=False,
                silence_logs=logging.WARNING,
                # A worker serves its own state over HTTP, whatever one asks for: then to this machine alone.
                dashboard=False,
                dashboard_address="127.0.0.1:0",
            )
            for _ in range(settings.workers)
        ]
        try:
            await _reach(settings)
            await asyncio.gather(*workers)
            log.info("%d processes compute for %s", len(workers), settings.compute)
            over = [asyncio.create_task(worker.finished()) for worker in workers]
            await asyncio.wait([ended, *over], return_when=asyncio.FIRST_COMPLETED)
            for task in over:
                task.cancel()
        except (OSError, TimeoutError) as error:
            log.warning("the scheduler at %s does not answer: %s", settings.compute, error)
        finally:
            await asyncio.gather(*(worker.close(timeout=KILL_AFTER_S) for worker in workers), return_exceptions=True)
        await asyncio.wait([ended], timeout=RETRY_AFTER_S)


def security(settings: Settings) -> Security | None:
    """The certificates by which everybody at a scheduler knows everybody else; None without TLS."""
    if settings.compute_tls_ca is None:
        return None
    own = {"cert": str(settings.compute_tls_cert), "key": str(settings.compute_tls_key)}
    return Security(
        require_encryption=True,
        tls_ca_file=str(settings.compute_tls_ca),
        **{f"tls_{role}_{part}": path for role in ("client", "worker") for part, path in own.items()},
    )


async def _reach(settings: Settings) -> None:
    """Makes sure that the scheduler answers.

    Raises:
        OSError: It does not.
    """
    certificates = security(settings) or Security()
    connection = await connect(
        settings.compute, timeout=CONNECT_TIMEOUT_S, **certificates.get_connection_args("worker")
    )
    await connection.close()


@asynccontextmanager
async def _own_pool(settings: Settings) -> AsyncIterator[Pool]:
    """Workers on this machine, which warm up meanwhile and end with the context."""
    async with AsyncExitStack() as ending:
        cluster = await _start(settings, ending)
        client = await ending.enter_async_context(Client(cluster, asynchronous=True, set_as_default=False))
        how = logs.logging_of(settings.log_format, settings.log_level)
        warming = asyncio.create_task(client.register_plugin(Warm(how)))

        async def connected() -> Client:
            return client

        try:
            yield Pool(connected)
        finally:
            warming.cancel()
            expect_the_end()
            # A busy worker would go on until its task is done, and complain that nobody listens: it is ended first.
            await asyncio.gather(*(nanny.close(timeout=KILL_AFTER_S) for nanny in cluster.workers.values()))


async def _start(settings: Settings, ending: AsyncExitStack) -> LocalCluster:
    """A cluster on this machine; a worker that dies before it can speak costs another try.

    Raises:
        RuntimeError: Workers have died in each try.
    """
    tries = 0
    while True:
        cluster = LocalCluster(
            n_workers=settings.workers,
            threads_per_worker=1,
            processes=True,
            asynchronous=True,
            # The scheduler serves its own state over HTTP, whatever one asks for: then to this machine alone.
            scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
            env=ONE_THREAD,
        )
        try:
            return await ending.enter_async_context(cluster)
        except RuntimeError as error:
            tries += 1
            if tries == START_TRIES:
                raise
            log.warning("a process that computes died while it started; all are started again: %s", error)


@asynccontextmanager
async def _shared_pool(settings: Settings) -> AsyncIterator[Pool]:
    """Workers elsewhere, which others may use too. The service runs without them, until somebody asks."""
    assert settings.compute is not None
    scheduler = Scheduler(settings.compute, security(settings))
    try:
        yield Pool(scheduler.client)
    finally:
        expect_the_end()
        await scheduler.close()
