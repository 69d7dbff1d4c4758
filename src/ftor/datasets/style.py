"""StylePTB: sentences to rewrite, scored with the metrics of nlg-eval, which are those of image captions.

They come from pycocoevalcap. Its tokenizer is not used: tokens are separated by spaces.
"""

import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec

from ftor.datasets.published import Download, PublishedDataset, sha256sums
from ftor.errors import FtorError
from ftor.metrics import CIDER, Scorer, Tokens
from ftor.reporting import Report

FILES = sha256sums("""
8a0f59718b3fabfeb00869bac2f5daa2ad482cda1185d493849beebcdbbe3167  ATP/test.tsv
b34b7506f2389d49fd26c589795e348d7bec05eba9be0f5b750ee78a7f9c948a  ATP/train.tsv
9795954e1ff746bd9f2f8385471e1f19999247eb768c93a316ea29726a79f2aa  ATP/valid.tsv
b15860506c2d6feabe046a439da0c21530d417d5db2a8a26d0df3fac1fb150cf  AEM/test.tsv
aa1e6fe3d627de608b10a7eae660aaac43689028890f682c4bf2461025cbca45  AEM/train.tsv
cc11885d12c1578cceab6908e586e5ed36ea69ff7cd6b5387e90133ec5ca6ea8  AEM/valid.tsv
c6ae63c15498e769f3f0a9d7cea53d34a4afe0881ea26cef084d36440c504932  VEM/test.tsv
1d8f8033fbfd35ce29ea44bd96b7dbbe7d87afa99304a6b5b89a7c04150b07a7  VEM/train.tsv
8c438e0db4ce331f017b43f08f3db3111b51934e0b358f5591b46ea20a16e4aa  VEM/valid.tsv
""")
RELEASE = "https://raw.githubusercontent.com/yoonkim/neural-qcfg/41c64f151eff078ccdb82d9a493ed03a4deb3038"

Captions = dict[int, list[str]]
Outputs = Sequence[Tokens]


def scorers(report: Report | None = None) -> tuple[Scorer, ...]:
    """BLEU-1 to BLEU-4, METEOR, ROUGE-L and CIDEr, as in the paper.

    Without Java METEOR is left out, with a warning to `report`.
    """
    if find_spec("pycocoevalcap") is None:
        raise FtorError("scores of style: pycocoevalcap is not installed: pip install 'ftor[style]'")
    problem = java_problem()
    if problem and report is not None:
        report.warn(f"METEOR is left out: {problem}")
    return (
        Scorer(("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4"), bleu),
        *([] if problem else [Scorer(("METEOR",), meteor, slow=True)]),
        Scorer(("ROUGE-L",), rouge_l),
        Scorer((CIDER,), cider),
    )


def bleu(golds: Outputs, outputs: Outputs) -> list[float]:
    """BLEU-1 to BLEU-4, from n-gram counts summed over all sentences."""
    from pycocoevalcap.bleu.bleu import Bleu

    scores, _ = Bleu(4).compute_score(*_captions(golds, outputs), verbose=0)
    return list(scores)


def rouge_l(golds: Outputs, outputs: Outputs) -> list[float]:
    """The mean over sentences of the F-score of the longest common subsequence, β = 1.2."""
    from pycocoevalcap.rouge.rouge import Rouge

    return [Rouge().compute_score(*_captions(golds, outputs))[0]]


def cider(golds: Outputs, outputs: Outputs) -> list[float]:
    """CIDEr, with n-gram frequencies from these golds. The golds themselves score 10."""
    from pycocoevalcap.cider.cider import Cider

    return [Cider().compute_score(*_captions(golds, outputs))[0]]


def meteor(golds: Outputs, outputs: Outputs) -> list[float]:
    """METEOR 1.5, from its Java program, with statistics summed over all sentences."""
    from pycocoevalcap.meteor.meteor import Meteor

    references, captions = _captions(golds, outputs)
    # To METEOR this ends a reference. pycocoevalcap removes it from outputs only.
    references = {row: [text.replace("|||", "") for text in texts] for row, texts in references.items()}
    scorer = Meteor()
    process = scorer.meteor_p
    try:
        score, _ = scorer.compute_score(references, captions)
    except (OSError, ValueError):
        process.kill()
        output = process.stderr.read().decode("utf-8", "replace").strip().splitlines()
        raise FtorError(
            f"METEOR: expected a score from java, found {output[0] if output else 'nothing'}"
        ) from None
    finally:
        # pycocoevalcap leaves the pipes open, and its destructor would wait for the lock.
        if scorer.lock.locked():
            scorer.lock.release()
        for pipe in (process.stdin, process.stdout, process.stderr):
            with suppress(OSError):
                pipe.close()
    return [score]


@cache
def java_problem() -> str:
    """Why Java cannot be used. Empty if it can."""
    program = shutil.which("java")
    if program is None:
        return "java is not installed"
    # Some systems have a `java` that only says where to get Java.
    try:
        answer = subprocess.run(
            [program, "-version"], capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{program} does not run: {error}"
    return f"{program} does not run: {answer.stderr.strip()[:200]}" if answer.returncode else ""


def _captions(golds: Outputs, outputs: Outputs) -> tuple[Captions, Captions]:
    """Golds and outputs in the format of pycocoevalcap."""
    references, captions = ({row: [" ".join(t)] for row, t in enumerate(rows)} for rows in (golds, outputs))
    return references, captions


DATASETS = (
    PublishedDataset(
        "style",
        FILES,
        tuple(Download(f"{RELEASE}/data/StylePTB/{file}") for file in FILES),
        scorers=scorers,
    ),
)
