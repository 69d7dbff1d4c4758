"""Predictions for whole files: chunks of lines, in this process, in several, or on a Ray cluster."""

from ftor.jobs.corpora.chunks import Chunk
from ftor.jobs.corpora.request import Answers, Request
from ftor.jobs.corpora.run import Predict, predict_corpus

__all__ = ["Answers", "Chunk", "Predict", "Request", "predict_corpus"]
