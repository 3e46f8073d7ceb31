# diffprivlib: from customers.csv to a model and its test.
import numpy as np
import pandas as pd
from diffprivlib import BudgetAccountant
from diffprivlib.models import RandomForestClassifier
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split

EPSILON = 1.0
CONTRACTS = ["monthly", "one year", "two years"]
BOUNDS = {"months": (0, 100), "total": (0, 20000), "fee": (0, 500)}

table = pd.read_csv("customers.csv")
# a blank is no number, and numbers have no place for what is missing
table["total"] = pd.to_numeric(table["total"], errors="coerce").fillna(0)
rows = table[list(BOUNDS)].clip(*np.array(list(BOUNDS.values())).T, axis=1)
# text has to become numbers
for contract in CONTRACTS:
    rows[f"contract {contract}"] = (table["contract"] == contract).astype(float)
classes = (table["left"] == "Yes").astype(int)
low = [low for low, _ in BOUNDS.values()] + [0] * len(CONTRACTS)
high = [high for _, high in BOUNDS.values()] + [1] * len(CONTRACTS)
train, test, train_classes, test_classes = train_test_split(
    rows.to_numpy(float), classes.to_numpy(), test_size=0.2
)
accountant = BudgetAccountant(epsilon=2, delta=0)
model = RandomForestClassifier(
    epsilon=EPSILON,
    bounds=(low, high),
    classes=[0, 1],
    shuffle=True,
    accountant=accountant,
)
model.fit(train, train_classes)

# exact: what is printed here is outside the guarantee
guessed, chances = model.predict(test), model.predict_proba(test)
print("accuracy", accuracy_score(test_classes, guessed))
print("balanced accuracy", balanced_accuracy_score(test_classes, guessed))
print("AUROC", roc_auc_score(test_classes, chances[:, 1]))
print("log loss", log_loss(test_classes, chances))
print("spent", accountant.total())
