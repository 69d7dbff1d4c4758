"""The paper's tables, the ledger of finished runs, and the runs that fill it."""
