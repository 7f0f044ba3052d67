"""`alpha5-pad`: look at a pad, check a profile, make one.

Read the pure modules in this order: `questions` (what is asked), `watch` (what the pad did),
`guide` (which answer is taken), `writing` (the file), `live` (what each control does now).
`screen`, `listening` and `cli` are the shell.
"""
