"""What a server counts, for Prometheus."""

from collections.abc import Callable, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

SHORT = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


class Metrics:
    """Counters, gauges and histograms in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)  # memory, CPU time, open files

        def new(kind: type, name: str, text: str, *labels: str, **options: object):  # type: ignore[no-untyped-def]
            return kind(f"ftor_{name}", text, labels, registry=self.registry, **options)

        self.requests: Counter = new(Counter, "requests", "Requests by path and status.", "path", "status")
        self.request_seconds: Histogram = new(
            Histogram, "request_seconds", "Time from request to answer.", "path", buckets=SHORT
        )
        self.sentences: Counter = new(Counter, "sentences", "Sentences that were predicted.", "model")
        self.batch_sentences: Histogram = new(
            Histogram, "batch_sentences", "Sentences per batch.", "model", buckets=SIZES
        )
        self.batch_seconds: Histogram = new(
            Histogram, "batch_seconds", "Time to predict a batch.", "model", buckets=SHORT
        )
        self.wait_seconds: Histogram = new(
            Histogram, "wait_seconds", "Time that requests waited for their batch.", "model", buckets=SHORT
        )
        self.queue: Gauge = new(Gauge, "queue_requests", "Requests that wait or are answered.", "model")

    def watch(self, model: str, waiting: Callable[[], int]) -> None:
        """Show how many requests wait for a model."""
        self.queue.labels(model).set_function(waiting)

    def of(self, model: str) -> "ModelMetrics":
        """What hears of a model's batches."""
        return ModelMetrics(self, model)

    def text(self) -> bytes:
        """All of them in the format of Prometheus."""
        return generate_latest(self.registry)


class ModelMetrics:
    """Notes the batches of one model."""

    def __init__(self, metrics: Metrics, model: str) -> None:
        self._sentences = metrics.sentences.labels(model)
        self._sizes = metrics.batch_sentences.labels(model)
        self._seconds = metrics.batch_seconds.labels(model)
        self._waits = metrics.wait_seconds.labels(model)

    def batch(self, sentences: int, waits: Sequence[float], seconds: float) -> None:
        """Note a batch."""
        self._sentences.inc(sentences)
        self._sizes.observe(sentences)
        self._seconds.observe(seconds)
        for wait in waits:
            self._waits.observe(wait)
