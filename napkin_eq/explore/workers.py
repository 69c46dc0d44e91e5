"""The processes that read and derive: a limit of time each, a killed one replaced, what was derived kept."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections import OrderedDict
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass, field
from typing import Any

from napkin_eq.explore.state import State

Event = dict[str, Any]
LINE = 64 << 20  # bytes of an event, at most
GRACE = 5.0  # seconds that a derivation nobody follows goes on: a page that is loaded again finds it
OVER = 3.0  # times its limit of processor time that a job may take by the clock
READING = 5.0  # seconds to read a text
JOBS = 200  # of one process; terms are kept as long as it lives
KEPT, HELD = 64, 64 << 20  # derivations kept, and their bytes together


@dataclass(slots=True, eq=False)
class Job:
    """A request and the events that answer it, so far; `followers` are those who wait for more."""

    state: State
    do: str
    seconds: float
    events: list[Event] = field(default_factory=list)
    done: bool = False
    followers: int = 0
    more: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None

    def add(self, event: Event) -> None:
        """Add an event and wake who waits for it."""
        self.events.append(event)
        self.done = event["event"] == "end"
        self.more.set()
        self.more = asyncio.Event()

    def fail(self, message: str) -> None:
        """End with something that went wrong."""
        self.add({"event": "wrong", "message": message, "place": None})
        self.add({"event": "end"})


class Process:
    """A worker process: `run` has it answer a job."""

    def __init__(self, warm: bool) -> None:
        self.warm, self.jobs = warm, 0
        self.child: asyncio.subprocess.Process | None = None
        self.starting = asyncio.Lock()

    async def started(self) -> asyncio.subprocess.Process:
        """Return the process, a new one where there is none that lives."""
        async with self.starting:
            if self.child is None or self.child.returncode is not None:
                command = [sys.executable, "-m", "napkin_eq.explore.worker", *(["--warm"] if self.warm else [])]
                pipe = asyncio.subprocess.PIPE
                # A session of its own: what it starts ends with it, and a Ctrl-C is the server's to handle.
                child = self.child = await asyncio.create_subprocess_exec(
                    *command,
                    stdin=pipe,
                    stdout=pipe,
                    stderr=asyncio.subprocess.DEVNULL,
                    limit=LINE,
                    start_new_session=True,
                )
                self.jobs = 0
                await self._line(child)
                return child
            return self.child

    async def _line(self, child: asyncio.subprocess.Process) -> Event | None:
        """Return the next event, None where the process ended."""
        assert child.stdout is not None
        line = await child.stdout.readline()
        return json.loads(line) if line.endswith(b"\n") else None

    async def run(self, job: Job) -> None:
        """Have a job answered; what ends the process, or takes too long, is said among its events."""
        limit = READING if job.do == "read" else max(OVER * job.seconds, 10.0)
        try:
            child = await self.started()
            assert child.stdin is not None
            request = {"do": job.do, "state": asdict(job.state), "seconds": job.seconds}
            child.stdin.write(json.dumps(request).encode() + b"\n")
            async with asyncio.timeout(limit):
                await child.stdin.drain()
                while not job.done:
                    event = await self._line(child)
                    if event is None:
                        job.fail(
                            "the process that worked on this was ended (by someone, or for want of memory); try again"
                        )
                    else:
                        job.add(event)
        except TimeoutError:
            await self.kill()
            job.fail(
                f"no answer within {limit:.0f} seconds; a smaller diagram, "
                "or `napkin-eq report` with a --limit of its own, may give one"
            )
        except (OSError, ValueError) as fault:
            await self.kill()
            job.fail(f"the process that worked on this failed: {fault!s:.100}")
        except asyncio.CancelledError:
            await self.kill()
            job.fail("nobody waited for this any more")
            raise
        self.jobs += 1
        if self.jobs >= JOBS:
            await self.kill()

    async def kill(self) -> None:
        """End the process and all that it started."""
        child, self.child = self.child, None
        if child is not None and child.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            await child.wait()


class Workers:
    """Some processes that derive and one that reads; equal requests are one job, and what was derived is kept."""

    def __init__(self, number: int, seconds: float) -> None:
        self.seconds = seconds
        self.reader = Process(warm=False)
        self.processes = [Process(warm=True) for _ in range(number)]
        self.idle: asyncio.Queue[Process] = asyncio.Queue()
        self.reading = asyncio.Lock()
        self.jobs: OrderedDict[str, Job] = OrderedDict()
        self.starting: asyncio.Task[Any] | None = None  # of a process in place of one that ended

    async def start(self) -> None:
        """Start the processes, so that the first request finds them warm."""
        for process in self.processes:
            self.idle.put_nowait(process)
        await asyncio.gather(*(process.started() for process in (self.reader, *self.processes)))

    async def stop(self) -> None:
        """End every process."""
        for job in self.jobs.values():
            if job.task is not None:
                job.task.cancel()
        for process in (self.reader, *self.processes):
            await process.kill()

    async def read(self, state: State) -> list[Event]:
        """Return the events that answer a text."""
        job = Job(state, "read", READING)

        async def run() -> None:
            async with self.reading:
                await self.reader.run(job)

        # Who goes away while a text is read does not end the process: it is done in a moment.
        job.task = asyncio.create_task(run())
        await asyncio.shield(job.task)
        return job.events[:-1]

    async def derived(self, state: State) -> AsyncIterator[Event]:
        """Yield the events of a derivation as they come, those that were before it was asked for at once."""
        key = state.key()
        job = self.jobs.get(key)
        if job is None or (job.done and any(event["event"] == "wrong" for event in job.events)):
            self._make_room()
            job = self.jobs[key] = Job(state, "derive", self.seconds)
            job.task = asyncio.create_task(self._run(job))
        self.jobs.move_to_end(key)
        job.followers += 1
        try:
            seen = 0
            while True:
                more = job.more
                while seen < len(job.events):
                    seen += 1
                    yield job.events[seen - 1]
                if job.done:
                    return
                await more.wait()
        finally:
            job.followers -= 1
            if not job.followers and not job.done:
                asyncio.get_running_loop().call_later(GRACE if self.idle.qsize() else 0.2, self._abandon, job)

    def _abandon(self, job: Job) -> None:
        if not job.followers and not job.done and job.task is not None:
            job.task.cancel()

    async def _run(self, job: Job) -> None:
        try:
            process = await self.idle.get()
        except asyncio.CancelledError:
            job.fail("nobody waited for this any more")
            raise
        try:
            await process.run(job)
        finally:
            self.idle.put_nowait(process)
            if process.child is None or process.child.returncode is not None:
                self.starting = asyncio.create_task(process.started())

    def _make_room(self) -> None:
        """Forget the derivations asked for longest ago."""
        size = {key: sum(len(str(e.get("html", ""))) for e in job.events) for key, job in self.jobs.items() if job.done}
        for key in list(size):
            if len(size) < KEPT and sum(size.values()) < HELD:
                break
            del self.jobs[key], size[key]
