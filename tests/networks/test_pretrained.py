"""Pretrained networks: weights, subwords, loss and search, and runs without the pretrained model."""

import shutil
import sys
import time
from dataclasses import replace
from importlib import import_module

import pytest
import torch

import ftor
from ftor.errors import FtorError
from ftor.files import read_json_lines
from ftor.model.tensors import load_tensors
from ftor.networks import Constraint
from ftor.text.encoded_pairs import EncodedPairs
from ftor.text.reading import Pair
from ftor.text.subwords import SubwordVocabularies
from support import hub, tiny_pretrained
from support.tiny import run_here

SENTENCES = ["a b c", "k", "d d e a b c", "f g h i"]


def small_batch(model):
    pairs = [Pair(("a", "b"), ("a", "b", "b", "a"), 1)]
    return EncodedPairs(pairs, model.vocabularies).batch(torch.tensor([0]))


def test_loads_without_the_pretrained_model(baseline, data, pretrained, tmp_path):
    folder = shutil.copytree(baseline("bart"), tmp_path / "moved")
    text = (folder / "config.toml").read_text()
    (folder / "config.toml").write_text(text.replace(str(pretrained), "/nowhere"))
    found = ftor.load(folder).predict(SENTENCES)
    wanted = ftor.load(baseline("bart")).predict(SENTENCES)
    assert [one.tokens for one in found] == [one.tokens for one in wanted]


def test_begins_with_the_pretrained_weights(data, pretrained, run):
    folder = run("bart", training__epochs=1, training__learning_rate=1e-30)
    weights = load_tensors(folder / "model.safetensors")[0]
    before = load_tensors(pretrained / "model.safetensors")[0]
    assert len(before) > 20
    for name, value in before.items():
        torch.testing.assert_close(weights[f"seq2seq.{name}"], value, rtol=0, atol=1e-20)


def test_shared_embeddings_are_kept_once_and_stay_shared(baseline):
    weights = load_tensors(baseline("bart") / "model.safetensors")[0]
    assert sum(value.shape == weights["seq2seq.model.shared.weight"].shape for value in weights.values()) == 1
    bart = ftor.load(baseline("bart")).network.seq2seq
    assert bart.lm_head.weight is bart.model.shared.weight is bart.model.decoder.embed_tokens.weight


def test_texts_are_read_and_written_in_subwords(baseline):
    vocabularies = ftor.load(baseline("bart")).vocabularies
    assert isinstance(vocabularies, SubwordVocabularies)
    ids = vocabularies.target_classes((), ("a", "B", "unheard", ".", "'s"))
    assert (ids[0], ids[-1]) == (0, 2)
    assert len(ids) > 7
    assert vocabularies.output(ids, ()) == ("a", "B", "unheard", ".", "'s")


def test_text_that_is_too_long_is_refused(baseline):
    finished = run_here("predict", baseline("bart"), "a " * 70)
    assert finished.code == 1
    assert "expected text of at most 64 subwords, found" in finished.err


def test_labels_are_smoothed_in_training_only(baseline):
    model = ftor.load(baseline("bart"))
    network, batch = model.network, small_batch(model)
    plain = network(batch).tokens
    for module in network.modules():
        module.p = 0.0  # no dropout
    network.seq2seq.config.dropout = network.seq2seq.config.activation_dropout = 0.0
    logits = network.seq2seq(
        input_ids=batch.source,
        decoder_input_ids=torch.cat([torch.tensor([[2]]), batch.target[:, :-1]], 1),
    ).logits
    log_p = logits.log_softmax(-1)[0]
    golds = log_p.gather(1, batch.target.T).squeeze(1)
    assert plain.item() == pytest.approx(-golds.mean().item(), rel=1e-5)
    smoothed = -(0.9 * golds + 0.1 * log_p.mean(1)).mean().item()
    network.training = True
    assert network(batch).tokens.item() == pytest.approx(smoothed, rel=1e-5)


def test_scores_are_log_probabilities(baseline):
    model = ftor.load(baseline("bart"))
    batch = small_batch(model)
    (found,) = model.network.decode(model.vocabularies.source_batch([("a", "b")]))
    assert 2 not in found.choices, "the end is not one of an output's tokens"
    written = found.choices + [2] * (len(found.choices) < model.config.model.max_steps)
    length = len(written)
    gold = replace(batch, target=torch.tensor([written]), target_lengths=torch.tensor([length]))
    assert found.score == pytest.approx(-length * model.network(gold).tokens.item(), rel=1e-4)


def test_a_model_that_is_not_there_is_named(arguments, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    finished = run_here(*arguments("bart", tmp_path / "run", model__pretrained=str(tmp_path / "none")))
    assert finished.code == 1
    assert f"model.pretrained: there is no folder {tmp_path}" in finished.err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("offline", [True, False])
def test_without_a_network_a_name_fails_at_once(arguments, tmp_path, monkeypatch, offline):
    hub.use(monkeypatch, "http://127.0.0.1:9", tmp_path / "cache", offline)
    begun = time.perf_counter()
    finished = run_here(*arguments("bart", tmp_path / "run", model__pretrained="ann/no-such-model"))
    assert time.perf_counter() - begun < 15  # the retries of transformers alone take longer
    assert finished.code == 1
    assert "model.pretrained: expected the folder of an encoder-decoder, or its name" in finished.err
    why = "HF_HUB_OFFLINE is set" if offline else "http://127.0.0.1:9 cannot be reached"
    assert (
        f"it is not in the cache ({tmp_path / 'cache'}), and {why}. Where there is a network" in finished.err
    )
    assert "hf download ann/no-such-model --local-dir weights" in finished.err
    assert "Retrying" not in finished.err


def test_predictions_do_not_depend_on_the_rest_of_the_batch(baseline):
    model = ftor.load(baseline("bart"))
    together = model.predict(SENTENCES)
    for batch_size in (1, 3):
        for one, other in zip(model.predict(SENTENCES, batch_size=batch_size), together, strict=True):
            assert one.tokens == other.tokens
            assert one.score == pytest.approx(other.score, abs=1e-4)


def test_what_is_not_accepted_is_passed_over_in_the_order_of_scores(baseline):
    model = ftor.load(baseline("bart"))
    batch = model.vocabularies.source_batch([("a", "b"), ("c",)])
    asked = {0: [], 1: []}

    def accepts(row, tokens):
        asked[row].append(tokens)
        return len(asked[row]) == 4 * (row + 1)

    outputs = model.network.decode(batch, 1, Constraint(accepts=accepts))
    assert [one.choices for one in outputs] == [asked[0][-1], asked[1][-1]]
    assert [len(asked[row]) for row in (0, 1)] == [4, 8]
    plain = model.network.decode(batch)
    assert all(one.score < best.score for one, best in zip(outputs, plain, strict=True))


@pytest.mark.slow
def test_a_run_resumes_without_the_pretrained_model(run, pretrained, tmp_path):
    folder = run("bart")
    assert run_here("train", "--resume", folder, "--set", "training.epochs=3").code == 0
    with_original = load_tensors(folder / "model.safetensors")[0]
    shutil.copytree(pretrained, tmp_path / "moved")
    again = run("bart", "again", model__pretrained=str(tmp_path / "moved"))
    shutil.rmtree(tmp_path / "moved")
    finished = run_here("train", "--resume", again, "--set", "training.epochs=3")
    assert finished.code == 0, finished.err
    without = load_tensors(again / "model.safetensors")[0]
    assert all(with_original[name].equal(without[name]) for name in without)


def test_a_text_of_too_many_subwords_is_named_with_its_line(data, arguments, tmp_path):
    lines = (data / "train.tsv").read_text().splitlines()
    lines[2] = "a " * 400 + "\ta"
    (tmp_path / "long.tsv").write_text("\n".join(lines) + "\n")
    options = arguments("bart", tmp_path / "run")
    options[options.index("--train") + 1] = tmp_path / "long.tsv"
    finished = run_here(*options, "--set", "data.max_length=1000")
    assert finished.code == 1
    assert "line 3: expected text of at most" in finished.err


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    monkeypatch.delitem(sys.modules, "ftor.networks.pretrained", raising=False)
    with pytest.raises(FtorError, match=r"transformers is not installed: pip install 'ftor\[pretrained\]'"):
        import_module("ftor.networks.pretrained")


@pytest.fixture(scope="module", params=["t5", "marian"])
def other(request, data, once):
    """Give the folder of a tiny pretrained network that is not a BART. Read only."""
    pytest.importorskip("transformers")
    kind, lines = request.param, (data / "train.tsv").read_text().replace("\t", "\n").splitlines()
    return once(f"pretrained-{kind}", lambda folder: tiny_pretrained.write(folder, lines, kind))


def test_any_encoder_decoder_is_trained_saved_and_loaded(other, run, tmp_path):
    folder = run("pretrained", model__pretrained=str(other))
    losses = [line["dev_loss"] for line in read_json_lines(folder / "log.jsonl")]
    assert losses[-1] < losses[0]
    model = ftor.load(folder)
    assert type(model.network.seq2seq).__name__ in ("T5ForConditionalGeneration", "MarianMTModel")
    moved = shutil.copytree(folder, tmp_path / "moved")
    text = (moved / "config.toml").read_text()
    (moved / "config.toml").write_text(text.replace(str(other), "/nowhere"))
    answers = ftor.load(moved).predict(SENTENCES)
    assert [one.tokens for one in answers] == [one.tokens for one in model.predict(SENTENCES)]
    (found,) = model.network.decode(model.vocabularies.source_batch([("a", "b")]))
    written = found.choices + [2] * (len(found.choices) < model.config.model.max_steps)
    gold = replace(
        small_batch(model), target=torch.tensor([written]), target_lengths=torch.tensor([len(written)])
    )
    assert found.score == pytest.approx(-len(written) * model.network(gold).tokens.item(), rel=1e-3)


def test_weights_that_are_a_pickle_are_only_read_as_tensors(data, arguments, tmp_path):
    lines = (data / "train.tsv").read_text().replace("\t", "\n").splitlines()
    folder = tiny_pretrained.write(tmp_path / "t5", lines, "t5")
    tensors = load_tensors(folder / "model.safetensors")[0]
    (folder / "model.safetensors").unlink()
    torch.save(tensors, folder / "pytorch_model.bin")
    settings = {"model__pretrained": str(folder), "training__epochs": 1}
    assert run_here(*arguments("pretrained", tmp_path / "good", **settings)).code == 0
    torch.save(Harmful(), folder / "pytorch_model.bin")
    finished = run_here(*arguments("pretrained", tmp_path / "bad", **settings))
    assert (finished.code, RUN) == (1, []), "nothing was run"
    assert "are a pickle of more than tensors" in finished.err


RUN = []


class Harmful:
    def __reduce__(self):
        return RUN.append, (1,)


def test_a_target_that_the_tokenizer_cannot_write_is_named(data, arguments, tmp_path):
    folder = tiny_pretrained.write(tmp_path / "t5", ["a b c d"], "t5", every_byte=False)
    finished = run_here(*arguments("pretrained", tmp_path / "run", model__pretrained=str(folder)))
    assert finished.code == 1
    assert "the pretrained tokenizer cannot write '" in finished.err


def test_a_network_that_only_decodes_is_refused(arguments, tmp_path):
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(n_layer=1, n_head=1, n_embd=8, vocab_size=9)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path / "gpt")
    finished = run_here(*arguments("pretrained", tmp_path / "run", model__pretrained=str(tmp_path / "gpt")))
    assert finished.code == 1
    assert "model.pretrained: expected the folder of an encoder-decoder" in finished.err


def test_weights_of_version_0_1_are_read(baseline):
    network = ftor.load(baseline("bart")).network
    state = {f"bart.{name.removeprefix('seq2seq.')}": value for name, value in network.state_dict().items()}
    other = ftor.load(baseline("bart")).network
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.zero_()
    other.load_state_dict(state)
    assert all(value.equal(network.state_dict()[name]) for name, value in other.state_dict().items())
