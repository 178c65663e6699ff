"""Annif with this package as its backend, through its own command. Annif brings its own version of scikit-learn."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("annif")

SUBJECTS = ["animals", "cooking", "gardens", "music", "ships", "stars"]


def corpus(path: Path, n: int, seed: int) -> None:
    """Write short texts with words that are typical of one or two subjects, and with other words."""
    draw = random.Random(seed)
    lines = []
    for _ in range(n):
        chosen = draw.sample(range(6), draw.choice([1, 2]))
        words = [f"{SUBJECTS[s]}word{draw.randrange(8)}" for s in chosen for _ in range(5)]
        words += [f"common{draw.randrange(30)}" for _ in range(10)]
        draw.shuffle(words)
        uris = " ".join(f"<http://example.org/{SUBJECTS[s]}>" for s in chosen)
        lines.append(f"{' '.join(words)}\t{uris}")
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def annif(tmp_path):
    (tmp_path / "vocabulary.csv").write_text(
        "uri,label_en\n" + "".join(f"http://example.org/{name},{name}\n" for name in SUBJECTS)
    )
    corpus(tmp_path / "train.tsv", 300, 1)
    corpus(tmp_path / "test.tsv", 80, 2)
    methods = {"craftml": "trees=20", "random-forest": "trees=50\nprojection=gaussian", "label-embedding": ""}
    sections = [
        f"[{name}]\nname={name}\nlanguage=en\nbackend=rpo\nanalyzer=simple\nvocab=subjects\nmethod={name}\n{more}\n"
        for name, more in methods.items()
    ]
    (tmp_path / "projects.cfg").write_text("\n".join(sections))
    # Replaces the NLTK download for finding ends of sentences by an untrained one, which suffices for these texts.
    punkt = tmp_path / "nltk" / "tokenizers" / "punkt_tab" / "english"
    punkt.mkdir(parents=True)
    for name in ("collocations.tab", "sent_starters.txt", "abbrev_types.txt", "ortho_context.tab"):
        (punkt / name).write_text("")
    environment = os.environ | {"ANNIF_CONFIG": "rpo.annif.Config", "NLTK_DATA": str(tmp_path / "nltk")}

    def run(*words: object) -> str:
        program = Path(sys.executable).with_name("annif")
        command = [str(program), *map(str, words)]
        return subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True).stdout

    run("load-vocab", "subjects", "vocabulary.csv")
    return run


@pytest.mark.parametrize("project", ["craftml", "random-forest", "label-embedding"])
def test_projects_are_trained_and_evaluated(annif, project):
    annif("train", "--jobs", 1, project, "train.tsv")
    scores = annif("eval", project, "test.tsv")
    precision = float(re.search(r"Precision@1:\s+([\d.]+)", scores).group(1))
    assert precision > 0.9
    annif("train", "--cached", project)
    assert annif("eval", project, "test.tsv") == scores


def test_a_vocabulary_may_grow_after_the_training(annif, tmp_path):
    annif("train", "--jobs", 1, "craftml", "train.tsv")
    scores = annif("eval", "craftml", "test.tsv")
    (tmp_path / "more.csv").write_text(
        "uri,label_en\n" + "".join(f"http://example.org/{name},{name}\n" for name in [*SUBJECTS, "trees"])
    )
    annif("load-vocab", "subjects", "more.csv")
    again = annif("eval", "craftml", "test.tsv")
    found = [re.search(r"Precision@1:\s+([\d.]+)", text).group(1) for text in (scores, again)]
    assert found[0] == found[1]
