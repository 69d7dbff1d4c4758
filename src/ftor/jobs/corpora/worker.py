"""The process that predicts chunks for `ftor.jobs.corpora.processes`: `python -m ftor.jobs.corpora.worker`.

It reads a request from stdin, then chunks: lists of texts, one JSON line each. It writes the answers to
stdout.
When stdin ends, the process ends: the process that started this one is done, or has died.
"""

import json
import os
import sys
import traceback

from ftor.errors import FtorError
from ftor.jobs.corpora.request import Predictor, Request


def main() -> None:
    """Predict chunks until stdin ends."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no reply
    request, predictor = Request.from_json(sys.stdin.readline()), None
    for line in sys.stdin:
        reply: dict[str, object]
        try:
            predictor = predictor or Predictor(request)
            reply = predictor.answer(json.loads(line))._asdict()
        except (FtorError, OSError) as error:
            reply = {"error": str(error)}
        except Exception as error:
            traceback.print_exc()
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), file=replies, flush=True)


if __name__ == "__main__":
    main()
