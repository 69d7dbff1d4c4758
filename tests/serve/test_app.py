"""What the server answers, and what it refuses."""

import json
import logging
import socket
import threading
import time

import pytest

from ftor.grammar import Grammar
from ftor.model.model import Model
from ftor.serve.schema import PredictResponse
from support.pages import ROOT

GRAMMAR = "Start -> 'a' 'b' | 'a' 'b' 'b' 'a' | 'b' 'a'"


def refused(answer, status, message):
    assert answer.status == status, answer
    assert list(answer.json) == ["error"]
    assert message in answer.json["error"]
    assert answer.headers["content-type"] == "application/json"


class TestPredictions:
    def test_are_those_of_the_model(self, served, model):
        sentences = ["a b c", "k j", "b  a ", "ünï 😀"]
        answer = served.predict(*sentences)
        assert answer.status == 200
        records = answer.json["predictions"]
        direct = model.predict(sentences, structure=False)
        assert [record["source"] for record in records] == sentences
        assert [record["prediction"] for record in records] == [one.text for one in direct]
        assert [record["score"] for record in records] == pytest.approx(
            [one.score for one in direct], rel=1e-4
        )
        assert "wait;dur=" in answer.headers["server-timing"]

    def test_no_sentences(self, served):
        assert served.predict().json == {"predictions": []}

    def test_a_bad_sentence_costs_only_itself(self, served):
        records = served.predict("a b", "", " \n", "b a").json["predictions"]
        assert records[1] == {"source": "", "error": "an empty line"}
        assert records[2]["error"]
        assert records[0]["prediction"]
        assert records[3]["prediction"]

    def test_structure(self, served, model):
        (record,) = served.predict("a b zebra", structure=True).json["predictions"]
        (direct,) = model.predict(["a b zebra"])
        assert record["source_tokens"] == list(direct.source)
        assert record["fertilities"] == list(direct.structure.fertilities)
        assert record["tree"] == str(direct.structure.tree)
        assert [step["name"] for step in record["steps"]] == ["fertility", "reordering"]
        assert record["steps"][0]["labels"] == list(direct.structure.steps[0].labels)
        assert record["written"] == record["tokens"]
        assert record["unknown"] == ["zebra"]
        assert "steps" not in served.predict("a b").json["predictions"][0]

    def test_alternatives(self, served, model):
        (record,) = served.predict("a b", n_best=3).json["predictions"]
        (direct,) = model.predict(["a b"], n_best=3)
        assert [one["prediction"] for one in record["alternatives"]] == [
            one.text for one in direct.alternatives
        ]

    def test_many_clients_at_once_get_their_own_answers(self, serve, model):
        server = serve(wait=0.05)
        letters = "abcdefghijk"
        sentences = [f"{first} {second}" for first in letters for second in letters[:3]]
        answers = {}
        threads = [
            threading.Thread(target=lambda text=text: answers.update({text: server.predict(text)}))
            for text in sentences
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = [answers[text].json["predictions"][0]["prediction"] for text in sentences]
        assert found == [one.text for one in model.predict(sentences, structure=False)]
        batches = server.metrics.registry.get_sample_value("ftor_batch_sentences_count", {"model": "tiny"})
        assert batches < len(sentences)

    def test_new_words_do_not_fill_the_memory(self, serve, model, monkeypatch):
        forgetful = Forgetful(model)
        server = serve(model=forgetful)
        assert server.predict("a").status == 200
        assert forgetful.times == 0
        monkeypatch.setattr("ftor.serve.hosting.NEW_WORDS", -1)
        assert server.predict("b").status == 200
        assert forgetful.times == 1

    def test_a_calibrated_model_says_how_sure_it_is_and_abstains(self, serve, trained, data):
        calibrated = Model.load(trained)
        calibrated.calibrate(data / "train.tsv")
        server = serve(model=calibrated)
        assert server.ask("/v1/models").json["models"][0]["calibrated"] is True
        sure = server.predict("a b c", n_best=3)
        (record,) = sure.json["predictions"]
        assert 0 <= record["confidence"] <= 1
        assert [one["share"] for one in record["alternatives"]]
        unsure = server.predict("a b c", n_best=3, min_confidence=1)
        (withheld,) = unsure.json["predictions"]
        assert (withheld["abstained"], withheld["prediction"]) == (True, None)
        assert withheld["alternatives"][0]["prediction"] == record["prediction"]
        for answer in (sure, unsure):
            assert PredictResponse.model_validate_json(answer.body)

    def test_a_model_that_is_not_calibrated_cannot_abstain(self, served):
        refused(served.predict("a", min_confidence=0.5), 422, "the model is not calibrated")
        body = served.ask("/openapi.json").json["paths"]["/v1/predict"]["post"]["requestBody"]
        fields = body["content"]["application/json"]["schema"]["properties"]
        assert fields["min_confidence"]["type"] == "null"

    def test_the_first_request_finds_the_vectors_read(self, serve, model):
        heard = Hearing(model)
        serve(model=heard)
        ((sentence,),) = heard.sentences
        assert not {*sentence} <= {*model.trained_words}


class TestGrammars:
    def test_are_chosen_by_name(self, serve):
        server = serve(grammars={"mine": Grammar.parse(GRAMMAR)})
        (host,) = server.ask("/v1/models").json["models"]
        assert host["grammars"] == ["own", "none", "mine"]
        (record,) = server.predict("a b c", grammar="mine").json["predictions"]
        assert record["well_formed"] is True
        assert "well_formed" not in server.predict("a b c", grammar="none").json["predictions"][0]

    def test_a_path_is_no_name(self, serve, tmp_path):
        (tmp_path / "mine.cfg").write_text(GRAMMAR)
        server = serve(grammars={"mine": Grammar.parse(GRAMMAR)})
        for name in (str(tmp_path / "mine.cfg"), "geo", "../mine"):
            refused(server.predict("a", grammar=name), 422, "grammar: tiny has own, none, mine")

    def test_one_that_the_model_cannot_use_is_left_out(self, serve):
        server = serve(model=autoregressive(), grammars={"mine": Grammar.parse(GRAMMAR)})
        assert "cannot decode with a grammar" in server.hosts[0].refused["mine"]
        assert server.ask("/v1/models").json["models"][0]["grammars"] == ["own", "none"]


def autoregressive():
    return Model.load(ROOT / "tests/model/saved/0.1.0/autoregressive")


class TestRefusals:
    @pytest.mark.parametrize(
        ("body", "message"),
        [
            (b"", "body: Invalid JSON"),
            (b"{", "body: Invalid JSON"),
            (b"[" * 100_000, "body: Invalid JSON"),
            (b"null", "body: Input should be an object"),
            (b'{"sentences": ["\\ud800"]}', "body: Invalid JSON"),
            (b'{"sentences": ["\xff"]}', "body: Invalid JSON"),
            (b"{}", "sentences: Field required"),
            (b'{"sentences": "a b"}', "sentences: Input should be a valid array"),
            (b'{"sentences": [1]}', "sentences.0: Input should be a valid string"),
            (b'{"sentences": [], "n_best": NaN}', "n_best: Input should be a valid integer"),
            (b'{"sentences": [], "n_best": 0}', "n_best: Input should be greater than or equal to 1"),
            (b'{"sentences": [], "n_best": 11}', "n_best: expected at most 10, found 11"),
            (b'{"sentences": [], "min_confidence": 2}', "min_confidence: Input should be less than"),
            (b'{"sentences": [], "path": "x"}', "path: Extra inputs are not permitted"),
            (b'{"sentences": [], "model": "../tiny"}', "model: expected one of tiny"),
        ],
    )
    def test_bodies(self, served, body, message):
        refused(served.ask("/v1/predict", body), 422, message)

    def test_sentences_and_words(self, serve):
        server = serve(sentences=2, words=3)
        refused(server.predict("a", "b", "c"), 422, "sentences: expected at most 2, found 3")
        refused(server.predict("a", "a b c d"), 422, "expected at most 3 words, found 4")
        assert server.predict("a", "a b c").status == 200
        refused(server.predict("a" * 301), 422, "expected at most 300 characters, found 301")

    def test_no_json(self, served):
        answer = served.ask("/v1/predict", b"{}", headers={"Content-Type": "text/plain"})
        refused(answer, 415, "expected application/json")

    @pytest.mark.parametrize("chunked", [False, True])
    def test_a_large_body(self, serve, chunked):
        server, body = serve(body=1000), b" " * 5000
        connection = server.connect()
        kind = {"Content-Type": "application/json"}
        content = iter([body[:700], body[700:]]) if chunked else body
        connection.request("POST", "/v1/predict", content, kind, encode_chunked=chunked)
        response = connection.getresponse()
        assert (response.status, response.read()) == (413, b'{"error": "the body has more than 1000 bytes"}')
        connection.close()

    def test_a_slow_body(self, serve):
        server = serve(seconds=0.2)
        with socket.create_connection(("127.0.0.1", server.port), 20) as slow:
            head = (
                "POST /v1/predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50"
            )
            slow.sendall(f"{head}\r\n\r\n{{".encode())
            answer = slow.makefile("rb").read()
        assert b" 408 " in answer
        assert b"did not arrive within 0.2 s" in answer

    @pytest.mark.parametrize(("before", "head"), [(0, b""), (0, b"POST /v1/pre"), (1, b"POST /v1/pre")])
    def test_a_slow_head(self, serve, before, head):
        server = serve(seconds=0.5)
        with socket.create_connection(("127.0.0.1", server.port), 20) as slow:
            answers = slow.makefile("rb")
            for _ in range(before):  # a whole request on the same connection
                slow.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
                lines = list(iter(answers.readline, b"\r\n"))
                (size,) = (line.split()[1] for line in lines if line.startswith(b"content-length"))
                assert b"ok" in answers.read(int(size))
            slow.sendall(head)
            answer = answers.read()
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"did not arrive within 0.5 s" in answer
        assert server.ask("/health").status == 200

    def test_paths_and_methods(self, served):
        refused(served.ask("/etc/passwd"), 404, "Not Found")
        refused(served.ask("/..%2f..%2fpage.js"), 404, "Not Found")
        refused(served.ask("/v1/predict"), 405, "Method Not Allowed")
        refused(served.ask("/v1/models", {}), 405, "Method Not Allowed")

    def test_a_full_queue_and_a_late_answer(self, serve, model):
        slow = Slow(model)
        server = serve(model=slow, queue=1, seconds=2.0, wait=0)
        slow.gate.clear()
        answers = []
        first = threading.Thread(target=lambda: answers.append(server.predict("a")))
        first.start()
        wait_for(server, 1)
        full = server.predict("b")
        refused(full, 429, "1 requests are waiting already")
        assert int(full.headers["retry-after"]) >= 1
        first.join()
        refused(answers[0], 429, "no answer within 2 s")
        assert answers[0].headers["retry-after"]
        slow.gate.set()
        wait_for(server, 0)
        assert server.predict("a").status == 200

    def test_an_error_of_our_own_is_one_500_and_costs_no_other(self, serve, model, caplog):
        server = serve(model=Failing(model), wait=0.2)
        answers = {}
        threads = [
            threading.Thread(target=lambda text=text: answers.update({text: server.predict(text)}))
            for text in ("a", "secret fail")
        ]
        with caplog.at_level(logging.INFO, "ftor.serve"):
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            server.stop()  # the log is written after the answer
        assert (answers["a"].status, answers["secret fail"].status) == (200, 500)
        assert answers["secret fail"].json == {"error": "an error of the server; its log says more"}
        assert "RuntimeError" in caplog.text
        assert "secret" not in caplog.text


def wait_for(server, requests):
    """Wait until so many requests are in the queue."""
    until = time.monotonic() + 20
    while len(server.hosts[0].queue) != requests:
        assert time.monotonic() < until
        time.sleep(0.01)


class Wrapped:
    """A model with another `predict`."""

    def __init__(self, model):
        self._model = model

    def __getattr__(self, name):
        return getattr(self._model, name)


class Slow(Wrapped):
    def __init__(self, model):
        super().__init__(model)
        self.gate = threading.Event()
        self.gate.set()

    def predict(self, sentences, **options):
        self.gate.wait(20)
        return self._model.predict(sentences, **options)


class Hearing(Wrapped):
    def __init__(self, model):
        super().__init__(model)
        self.sentences = []

    def predict(self, sentences, **options):
        self.sentences.append(sentences)
        return self._model.predict(sentences, **options)


class Forgetful(Wrapped):
    times = 0

    def forget_words(self):
        self.times += 1


class Failing(Wrapped):
    def predict(self, sentences, **options):
        if any("fail" in sentence for sentence in sentences):
            raise RuntimeError(str(sentences))
        return self._model.predict(sentences, **options)


class TestKeys:
    @pytest.fixture
    def locked(self, serve):
        return serve(keys=["first-key", "second-key"])

    @pytest.mark.parametrize("path", ["/v1/predict", "/v1/models", "/metrics"])
    @pytest.mark.parametrize(
        "header",
        [None, "Bearer", "Bearer wrong", "Basic first-key", "first-key", "Bearer first-ke", "Bearer \xff"],
    )
    def test_nobody_else_is_answered(self, locked, path, header):
        body = {"sentences": ["a"]} if "predict" in path else None
        answer = locked.ask(path, body, headers={} if header is None else {"Authorization": header})
        refused(answer, 401, "expected the header Authorization: Bearer KEY")
        assert answer.headers["www-authenticate"] == "Bearer"

    @pytest.mark.parametrize("key", ["first-key", "second-key"])
    def test_every_key_opens(self, locked, key):
        for path, body in {"/v1/models": None, "/v1/predict": {"sentences": ["a"]}, "/metrics": None}.items():
            assert locked.ask(path, body, headers={"Authorization": f"bearer {key}"}).status == 200

    def test_the_page_and_health_are_open(self, locked):
        assert {locked.ask(path).status for path in ("/", "/docs", "/page.js", "/health")} == {200}


class TestOthers:
    def test_models(self, served, model):
        answer = served.ask("/v1/models").json
        (described,) = answer["models"]
        assert (described["name"], described["structure"]) == ("tiny", True)
        assert answer["limits"] == {"sentences": 64, "words": 100, "n_best": 10}

    def test_health(self, served):
        assert served.ask("/health").json["status"] == "ok"

    def test_metrics(self, served):
        served.predict("a", "b")
        served.ask("/no/such/path")
        text = served.ask("/metrics").body.decode()
        assert 'ftor_requests_total{path="/v1/predict",status="200"}' in text
        assert 'ftor_requests_total{path="other",status="404"}' in text
        assert "/no/such" not in text
        for name in ("wait_seconds_count", "batch_sentences_sum", "batch_seconds_sum", "queue_requests"):
            assert f'ftor_{name}{{model="tiny"}}' in text

    def test_pages_need_nothing_from_elsewhere(self, served):
        for path in ("/", "/docs", "/page.css", "/page.js", "/drawing.js", "/docs.js", "/icon.svg"):
            answer = served.ask(path)
            assert answer.status == 200
            text = answer.body.decode().replace("http://www.w3.org/2000/svg", "")
            assert "http://" not in text
            assert "https://" not in text
            assert "default-src 'none'" in answer.headers["content-security-policy"]

    @pytest.mark.parametrize("asked", [False, True])
    def test_sentences_are_logged_only_if_asked_for(self, serve, caplog, asked):
        server = serve(log_sentences=asked)
        with caplog.at_level(logging.DEBUG):
            server.predict("a secret\nline")
            server.ask("/secret")
            server.ask("/v1/predict", b'{"secret": 1}')
            server.stop()
        assert ("a secret" in caplog.text) == asked
        assert ("/secret" in caplog.text) is False
        messages = [record.getMessage() for record in caplog.records if record.name == "ftor.serve"]
        assert any(message.startswith("POST /v1/predict 200 ") for message in messages)
        assert not any("\n" in message for message in messages)

    def test_a_client_that_hangs_up_is_forgotten(self, serve, model):
        slow = Slow(model)
        server = serve(model=slow, wait=0)
        slow.gate.clear()
        body = json.dumps({"sentences": ["a"]})
        for _ in range(3):
            connection = server.connect()
            connection.request("POST", "/v1/predict", body, {"Content-Type": "application/json"})
            time.sleep(0.05)
            connection.close()
        time.sleep(0.2)
        slow.gate.set()
        assert server.predict("b").status == 200
        sample = server.metrics.registry.get_sample_value
        assert sample("ftor_requests_total", {"path": "/v1/predict", "status": "499"}) == 3
        assert sample("ftor_sentences_total", {"model": "tiny"}) == 2  # the first ran already

    def test_stopping_finishes_what_runs(self, serve, model):
        slow = Slow(model)
        server = serve(model=slow, wait=0)
        slow.gate.clear()
        answers = []
        clients = [
            threading.Thread(target=lambda text=text: answers.append(server.predict(text))) for text in "abc"
        ]
        for client in clients:
            client.start()
        wait_for(server, 3)
        threading.Timer(0.2, slow.gate.set).start()
        server.stop()
        for client in clients:
            client.join()
        assert [answer.status for answer in answers] == [200] * 3
        with pytest.raises(ConnectionRefusedError):
            server.predict("a")
