"""Whole games while processes are killed and answers get lost, and the proof that nothing came of it."""

import os

# Connections break by the hundred; the core would tell of each.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
