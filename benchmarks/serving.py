"""Speed of `ftor serve` with and without batches, and a long run with bad requests, on one machine."""

import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil

import ftor
import timing

CLIENTS = (1, 8, 64)
WAYS = {"batches": (), "one by one": ("--max-batch", "1", "--batch-wait", "0")}
POOL, WORDS = 200, (3, 12)
"""Different sentences, and how long they are."""
SOAK_CLIENTS, BAD = 32, 0.01
BODY, SECONDS = 20_000, 2
"""The limits of the server of the long run: bytes, and seconds for a request."""


class Server(NamedTuple):
    """A process that serves, and its port."""

    process: psutil.Process
    port: int

    @property
    def megabytes(self) -> float:
        """Its resident memory."""
        return float(self.process.memory_info().rss / 1e6)


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Server]:
    """Serve a model in a process of its own."""
    command = [sys.executable, "-m", "ftor", "serve", str(folder), "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            yield Server(psutil.Process(process.pid), int(address.rpartition(":")[2]))
        finally:
            process.terminate()


class Client:
    """A connection that is opened anew where the server has closed it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, body: bytes, length: int | None = None) -> None:
        """Send a request, whose head may promise more than its body has."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self.port)
        size = len(body) if length is None else length
        head = [
            "POST /v1/predict HTTP/1.1",
            "Host: x",
            "Content-Type: application/json",
            f"Content-Length: {size}",
        ]
        self._streams[1].write("\r\n".join([*head, "", ""]).encode() + body)
        await self._streams[1].drain()

    async def receive(self) -> tuple[int, bytes]:
        """Read an answer: its status and its body."""
        assert self._streams is not None
        head = (await self._streams[0].readuntil(b"\r\n\r\n")).decode().lower()
        status = int(head.split(maxsplit=2)[1])
        size = int(head.partition("content-length: ")[2].split()[0])
        body = await self._streams[0].readexactly(size)
        if "connection: close" in head:
            self.close()
        return status, body

    async def ask(self, body: bytes) -> tuple[int, bytes]:
        """Send a request and read its answer."""
        await self.send(body)
        return await self.receive()

    def close(self) -> None:
        """Hang up."""
        if self._streams is not None:
            self._streams[1].close()
        self._streams = None


def request(sentence: str) -> bytes:
    """The body of a request for one sentence."""
    return json.dumps({"sentences": [sentence]}).encode()


async def load(port: int, clients: int, requests: int, sentences: list[str]) -> dict[str, float]:
    """Requests per second, and the middle and the 99th percentile of their times, of some clients at once."""
    times: list[float] = []
    left = iter(range(requests))

    async def work() -> None:
        client = Client(port)
        for number in left:
            begin = time.perf_counter()
            status, _ = await client.ask(request(sentences[number % len(sentences)]))
            times.append(time.perf_counter() - begin)
            assert status == 200
        client.close()

    begin = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(clients)))
    seconds = time.perf_counter() - begin
    middle, slow = np.percentile(times, [50, 99])
    return {"per_s": requests / seconds, "p50_ms": 1000 * float(middle), "p99_ms": 1000 * float(slow)}


@dataclass
class Soak:
    """A long run: what clients send, what they got, and the server's memory on the way."""

    server: Server
    expected: dict[str, str]
    statuses: Counter[str] = field(default_factory=Counter)
    wrong: int = 0
    unexplained: int = 0
    megabytes: list[float] = field(default_factory=list)

    async def good(self, client: Client, draw: random.Random) -> None:
        """Ask for one to three sentences, and compare with what the model itself predicts."""
        sentences = draw.sample(list(self.expected), draw.randint(1, 3))
        status, body = await client.ask(json.dumps({"sentences": sentences}).encode())
        self.statuses[f"good {status}"] += 1
        records = json.loads(body).get("predictions", [])
        found = [record.get("prediction") for record in records]
        self.wrong += status == 200 and found != [self.expected[sentence] for sentence in sentences]
        self.unexplained += status != 200 and not json.loads(body).get("error")

    async def malformed(self, client: Client, draw: random.Random) -> None:
        """Send what is no request."""
        bodies = [b"", b"{", b"[]", b'{"sentences": 3}', b'{"sentences": ["\xff"]}', b"[" * 5000]
        self._refusal("malformed", *await client.ask(draw.choice(bodies)))

    async def oversized(self, client: Client, draw: random.Random) -> None:
        """Send more than the server takes."""
        self._refusal("oversized", *await client.ask(b" " * draw.randint(BODY + 1, 10 * BODY)))

    async def slow(self, client: Client, draw: random.Random) -> None:
        """Send half a request, and wait."""
        await client.send(b'{"sentences": [', 100)
        self._refusal("slow", *await client.receive())

    async def dropped(self, client: Client, draw: random.Random) -> None:
        """Send a request and hang up."""
        await client.send(request(draw.choice(list(self.expected))))
        client.close()
        self.statuses["dropped"] += 1

    def _refusal(self, kind: str, status: int, body: bytes) -> None:
        self.statuses[f"{kind} {status}"] += 1
        self.unexplained += not (400 <= status < 500 and json.loads(body).get("error"))

    async def run(self, requests: int) -> None:
        """Send so many requests; one in a hundred is of each bad kind."""
        bad = (self.malformed, self.oversized, self.slow, self.dropped)
        draw = random.Random(0)
        kinds: list[Callable[[Client, random.Random], Awaitable[None]]] = [
            bad[int(share / BAD)] if share < len(bad) * BAD else self.good
            for share in (draw.random() for _ in range(requests))
        ]
        left = iter(enumerate(kinds))

        async def work(seed: int) -> None:
            client, own = Client(self.server.port), random.Random(seed)
            for number, kind in left:
                if number % (requests // 10) == 0:
                    self.megabytes.append(self.server.megabytes)
                    timing.progress(f"{number} requests: {self.megabytes[-1]:.0f} MB")
                await kind(client, own)
            client.close()

        await asyncio.gather(*(work(seed) for seed in range(SOAK_CLIENTS)))
        self.megabytes.append(self.server.megabytes)


def train(folder: Path) -> Path:
    """Train a small model on mirror, which needs no data."""
    timing.progress("training a model")
    settings = ("--set", "training.epochs=2", "--out", str(folder / "mirror"))
    subprocess.run([sys.executable, "-m", "ftor", "train", "mirror", *settings], check=True)
    return folder / "mirror"


def main() -> None:
    """Measure, print and write."""
    options = timing.arguments("serving", __doc__ or "", model="a model folder; default: one is trained")
    with tempfile.TemporaryDirectory() as name:
        folder = options.model or train(Path(name))
        model = ftor.load(folder)
        draw = random.Random(0)
        sentences = [" ".join(draw.choices(model.trained_words, k=draw.randint(*WORDS))) for _ in range(POOL)]
        direct = model.predict(sentences, structure=False)
        expected = {sentence: one.text for sentence, one in zip(sentences, direct, strict=True)}
        rows: list[dict[str, object]] = []
        with serving(folder, *WAYS["batches"]) as first, serving(folder, *WAYS["one by one"]) as second:
            for clients in CLIENTS:
                for way, server in zip(WAYS, (first, second), strict=True):
                    timing.progress(f"{clients} clients, {way}")
                    asyncio.run(load(server.port, clients, 2 * clients, sentences))
                    requests = (50 if options.quick else 200) + 10 * clients
                    figures = asyncio.run(load(server.port, clients, requests, sentences))
                    rows.append({"clients": clients, "way": way, "requests": requests, **figures})
        limits = ("--max-body", str(BODY), "--max-seconds", str(SECONDS))
        with serving(folder, *limits) as server:
            soak = Soak(server, expected)
            asyncio.run(soak.run(500 if options.quick else 10_000))
    timing.print_records("requests of one sentence", rows)
    timing.print_table("long run", ["what", "number"], sorted(soak.statuses.items()))
    print(f"wrong answers: {soak.wrong}; refusals that are no 4xx with a message: {soak.unexplained}")
    print(f"memory (MB): {', '.join(f'{value:.0f}' for value in soak.megabytes)}")
    timing.write_json(
        options.out,
        {
            "load": rows,
            "soak": dict(soak.statuses),
            "wrong": soak.wrong,
            "unexplained": soak.unexplained,
            "megabytes": soak.megabytes,
        },
    )
    if soak.wrong or soak.unexplained:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
