#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""type_in.py LINE.. -- COMMAND [ARGUMENT].. runs the command on a new terminal, and types one LINE after each prompt,
which ends with "# ". Prints what the terminal shows. The status is that of the command, or 124 after a minute."""
import os
import pty
import select
import sys
import time

separator = sys.argv.index("--")
lines, command = sys.argv[1:separator], sys.argv[separator + 1 :]
pid, terminal = pty.fork()
if not pid:
    os.execvp(command[0], command)
end = time.monotonic() + 60
shown = b""
while time.monotonic() < end:
    if select.select([terminal], [], [], 1)[0]:
        try:
            shown += os.read(terminal, 4096)
        except OSError:  # the command has closed its terminal
            break
    if shown.endswith(b"# ") and lines:
        os.write(terminal, lines.pop(0).encode() + b"\n")
else:
    os.kill(pid, 9)
sys.stdout.buffer.write(shown.replace(b"\r", b""))
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.exit(124 if status < 0 else status)
