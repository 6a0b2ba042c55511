#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""type_in.py LINE.. -- COMMAND [ARGUMENT].. runs the command on a new terminal, and types one LINE after each prompt,
which ends with "# ". At a prompt after the last LINE it sends SIGTERM. Prints what the terminal shows, with \\n for
\\r\\n, and a last line if the command leaves the terminal with other settings. The status is that of the command,
128 + N after signal N, or 124 after a minute."""
import fcntl
import os
import pty
import select
import signal
import sys
import termios
import time


def settings(terminal):
    return termios.tcgetattr(terminal), fcntl.fcntl(terminal, fcntl.F_GETFL)


separator = sys.argv.index("--")
lines, command = sys.argv[1:separator], sys.argv[separator + 1 :]
keyboard, terminal = pty.openpty()
before = settings(terminal)
pid = os.fork()
if not pid:
    os.login_tty(terminal)
    os.execvp(command[0], command)
end = time.monotonic() + 60
shown = b""
ended = None
while not ended and time.monotonic() < end:
    ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    new = b""
    while select.select([keyboard], [], [], 0.1)[0]:
        new += os.read(keyboard, 4096)
    shown += new
    if not new or not shown.endswith(b"# "):
        continue
    if lines:
        os.write(keyboard, lines.pop(0).encode() + b"\n")
    else:
        os.kill(pid, signal.SIGTERM)
if not ended:
    os.kill(pid, signal.SIGKILL)
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))
if settings(terminal) != before:
    print("\nthe terminal has other settings")
sys.exit(124 if not ended else status if status >= 0 else 128 - status)
