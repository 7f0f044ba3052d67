"""The other side of an e-stop endpoint: what checks in. A software stop. Not safety-rated."""
