"""How bytes reach the arm: one contract, and what fulfils it."""
