"""`SOCKET WORD…`: what a program that is loaded already (`loaded.py`, at that socket) does with these words.

A copy of it has the files, the environment and the folder of this process. This one ends when and as the copy does; the
copy is killed where this one ends before. It loads next to nothing itself.
"""

from __future__ import annotations

import json
import os
import socket
import sys

with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(sys.argv[1])
    asked = json.dumps({"words": sys.argv[2:], "environment": dict(os.environ), "folder": os.getcwd()}).encode()  # noqa: PTH109 - without pathlib
    socket.send_fds(connection, [len(asked).to_bytes(4, "big")], [0, 1, 2])
    connection.sendall(asked)
    for file in (0, 1, 2):  # whoever reads from the copy learns at once when it has ended
        os.close(file)
    status = connection.recv(1)
os._exit(status[0] if status else 1)
