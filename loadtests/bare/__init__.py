"""The bare pipeline: a yardstick for the whole path of a move.

The same processes, hops and fan-out as the services, the same number of store operations, with messages and state of
the same sizes; but no rules, no checks, no logs or metrics, and a plain unary call to the process behind.
"""
