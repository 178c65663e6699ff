"""Fits another library to a data set and prints times, memory and scores as a line of JSON.

    python peers.py NAME TRAIN TEST --threads N

TRAIN and TEST are safetensors files with `y` (n x d) and either `x` (n x p) or the arrays of a CSR matrix. Every library
has its own defaults, except for 100 trees or rounds. Columns with one value, which some refuse, get that value.
"""

import argparse
import json
import os
import pickle
import resource
import shutil
import sys
import tempfile
import time
from importlib.metadata import version

import numpy as np
import scipy.sparse as sp
from safetensors.numpy import load_file

ROUNDS = 100


class Joint:
    """A model of all outputs."""

    def __init__(self, model, labels):
        self.model = model
        self.labels = labels and hasattr(model, "predict_proba")

    def fit(self, x, y):
        self.model.fit(x, y.astype(np.int32) if self.labels else y)
        return self

    def predict(self, x):
        return self.model.predict_proba(x) if self.labels else self.model.predict(x)

    def n_bytes(self):
        return len(pickle.dumps(self.model))


class PerOutput:
    """One model per output, for libraries that support a single output."""

    def __init__(self, make):
        self.make = make

    def fit(self, x, y):
        self.models = []
        for column in y.T:
            constant = column.min() == column.max()
            self.models.append(float(column[0]) if constant else self.make().fit(x, column))
        return self

    def predict(self, x):
        out = np.empty((x.shape[0], len(self.models)), np.float32)
        for j, model in enumerate(self.models):
            if isinstance(model, float):
                out[:, j] = model
            elif hasattr(model, "predict_proba"):
                out[:, j] = model.predict_proba(x)[:, 1]
            else:
                out[:, j] = model.predict(x)
        return out

    def n_bytes(self):
        return len(pickle.dumps(self.models))


class Omikuji:
    """Parabel, the name of omikuji's defaults. It reads a file; writing the file is not measured."""

    def __init__(self, threads):
        self.threads = threads
        self.folder = tempfile.mkdtemp()

    def prepare(self, x, y):
        x, y = sp.csr_matrix(x), sp.csr_matrix(y)
        self.n_labels = y.shape[1]
        self.file = os.path.join(self.folder, "train.txt")
        with open(self.file, "w") as file:
            file.write(f"{x.shape[0]} {x.shape[1]} {y.shape[1]}\n")
            for row in range(x.shape[0]):
                labels = ",".join(map(str, y.indices[y.indptr[row] : y.indptr[row + 1]]))
                entries = slice(x.indptr[row], x.indptr[row + 1])
                pairs = zip(x.indices[entries], x.data[entries])
                file.write(labels + " " + " ".join(f"{j}:{v:.6g}" for j, v in pairs) + "\n")

    def fit(self, x, y):
        import omikuji

        parameters = omikuji.Model.default_hyper_param()
        self.model = omikuji.Model.train_on_data(self.file, parameters, self.threads)
        return self

    def predict(self, x):
        x = sp.csr_matrix(x)
        out = np.zeros((x.shape[0], self.n_labels), np.float32)
        for row in range(x.shape[0]):
            entries = slice(x.indptr[row], x.indptr[row + 1])
            pairs = list(zip(x.indices[entries].tolist(), x.data[entries].tolist()))
            for label, score in self.model.predict(pairs, top_k=self.n_labels):
                out[row, label] = score
        return out

    def n_bytes(self):
        saved = os.path.join(self.folder, "model")
        self.model.save(saved)
        files = [os.path.join(folder, f) for folder, _, names in os.walk(saved) for f in names]
        n_bytes = sum(map(os.path.getsize, files))
        shutil.rmtree(self.folder)
        return n_bytes


def fraction(labels):
    """The defaults of classifiers, as regressors on labels are their trees, and of regressors."""
    return "sqrt" if labels else 1.0


def scikit_learn_forest(labels, threads):
    from sklearn.ensemble import RandomForestRegressor

    return Joint(RandomForestRegressor(ROUNDS, max_features=fraction(labels), n_jobs=threads, random_state=0), labels)


def scikit_learn_extra_trees(labels, threads):
    from sklearn.ensemble import ExtraTreesRegressor

    return Joint(ExtraTreesRegressor(ROUNDS, max_features=fraction(labels), n_jobs=threads, random_state=0), labels)


def scikit_learn_boosting(labels, threads):
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingClassifier if labels else HistGradientBoostingRegressor
    return PerOutput(lambda: kind(max_iter=ROUNDS, early_stopping=False, random_state=0))


def xgboost(strategy):
    def make(labels, threads):
        import xgboost

        kind = xgboost.XGBClassifier if labels else xgboost.XGBRegressor
        model = kind(n_estimators=ROUNDS, multi_strategy=strategy, n_jobs=threads, random_state=0)
        return Joint(model, labels)

    return make


def lightgbm(labels, threads):
    import lightgbm

    kind = lightgbm.LGBMClassifier if labels else lightgbm.LGBMRegressor
    return PerOutput(lambda: kind(n_estimators=ROUNDS, n_jobs=threads, random_state=0, verbose=-1))


def catboost(labels, threads):
    import catboost

    kind, loss = (
        (catboost.CatBoostClassifier, "MultiLogloss") if labels else (catboost.CatBoostRegressor, "MultiRMSE")
    )
    model = kind(
        iterations=ROUNDS,
        loss_function=loss,
        thread_count=threads,
        random_seed=0,
        verbose=False,
        allow_writing_files=False,
    )
    return Joint(model, labels)


def hessboost(labels, threads):
    from hessboost.sklearn import HessboostClassifier, HessboostRegressor

    kind = HessboostClassifier if labels else HessboostRegressor
    return PerOutput(lambda: kind(n_estimators=ROUNDS, n_jobs=threads, random_state=0))


PEERS = {
    "scikit-learn forest": ("scikit-learn", scikit_learn_forest),
    "scikit-learn Extra-Trees": ("scikit-learn", scikit_learn_extra_trees),
    "scikit-learn boosting per output": ("scikit-learn", scikit_learn_boosting),
    "XGBoost per output": ("xgboost-cpu", xgboost("one_output_per_tree")),
    "XGBoost, shared trees": ("xgboost-cpu", xgboost("multi_output_tree")),
    "LightGBM per output": ("lightgbm", lightgbm),
    "CatBoost": ("catboost", catboost),
    "hessboost per output": ("hessboost", hessboost),
    "omikuji": ("omikuji", lambda labels, threads: Omikuji(threads)),
}


def load(path):
    arrays = load_file(path)
    if "x" in arrays:
        return arrays["x"], arrays["y"]
    parts = (arrays["x.values"], arrays["x.columns"], arrays["x.starts"])
    return sp.csr_matrix(parts, shape=tuple(arrays["x.shape"])), arrays["y"]


def scores(labels, truth, predicted):
    from sklearn.metrics import label_ranking_average_precision_score, r2_score

    if not labels:
        return {"r2": r2_score(truth, predicted)}
    best = truth[np.arange(len(truth)), predicted.argmax(1)]
    return {"lrap": label_ranking_average_precision_score(truth, predicted), "p@1": float(best.mean())}


def measured(work):
    cpu, wall = time.process_time(), time.perf_counter()
    result = work()
    return result, time.process_time() - cpu, time.perf_counter() - wall


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=PEERS)
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    x, y = load(arguments.train)
    labels = bool(np.isin(y, (0, 1)).all())
    package, make = PEERS[arguments.name]
    model = make(labels, arguments.threads)
    if isinstance(model, Omikuji):
        model.prepare(x, y)
    fitted, fit_cpu, fit_wall = measured(lambda: model.fit(x, y))
    x_test, y_test = load(arguments.test)
    predicted, predict_cpu, predict_wall = measured(lambda: np.asarray(fitted.predict(x_test)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    record = {
        "version": version(package),
        "fit_cpu": fit_cpu,
        "fit_wall": fit_wall,
        "predict_cpu": predict_cpu,
        "predict_wall": predict_wall,
        "peak_bytes": peak,
        "model_bytes": model.n_bytes(),
        "scores": scores(labels, y_test, predicted),
    }
    json.dump(record, sys.stdout)
    print()


if __name__ == "__main__":
    main()
