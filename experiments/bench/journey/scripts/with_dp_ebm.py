# DP-EBM (interpret-core): from customers.csv to a model and its test.
import pandas as pd
from interpret.privacy import DPExplainableBoostingClassifier
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split

EPSILON, DELTA = 1.0, 1e-5
BOUNDS = {"months": (0, 100), "total": (0, 20000), "fee": (0, 500)}
NAMES = ["contract", *BOUNDS]
TYPES = ["nominal", "continuous", "continuous", "continuous"]

table = pd.read_csv("customers.csv")
# a blank is no number; it has no bin of its own here
table["total"] = pd.to_numeric(table["total"], errors="coerce").fillna(0)
rows, classes = table[NAMES], table["left"]
train, test, train_classes, test_classes = train_test_split(rows, classes, test_size=0.2)
model = DPExplainableBoostingClassifier(
    feature_names=NAMES,
    feature_types=TYPES,
    epsilon=EPSILON,
    delta=DELTA,
    privacy_bounds=BOUNDS,
)
model.fit(train, train_classes)

# exact: what is printed here is outside the guarantee
guessed, chances = model.predict(test), model.predict_proba(test)
print("accuracy", accuracy_score(test_classes, guessed))
print("balanced accuracy", balanced_accuracy_score(test_classes, guessed))
print("AUROC", roc_auc_score(test_classes, chances[:, 1]))
print("log loss", log_loss(test_classes, chances))
print("spent", EPSILON, DELTA)
