"""The proof's document and what it is made from agree."""

import proof_docs


def test_the_proof_document_is_what_the_invariants_say():
    assert proof_docs.TARGET.read_text(encoding="utf-8") == proof_docs.text()
