# Privet: from customers.csv to a model, its test and a statement of what was spent.
privet init customers.csv --target left --classes "No|Yes" --column "contract=monthly|one year|two years" --column months=0..100 --column total=0..20000 --column fee=0..500 --output customers.schema.json --yes
privet fit customers.csv --schema customers.schema.json --epsilon 1 --budget 2 --test-size 0.2 -o model.json
privet evaluate model.json customers.csv --schema customers.schema.json --epsilon 0.5 --test-size 0.2
privet ledger show customers.csv.ledger.sqlite
