"""Who may move the arm, and whether. `core` opens with the theory of operation."""
