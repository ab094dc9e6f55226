"""What all tests have in common."""

import signal

# A shell that starts the tests in the background ignores Ctrl-C for them and all their children, some of which are to
# be ended by it.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
