"""One rank of an adapter that spans nodes: python meeting.py rank=RANK COMMAND…

Rank 0 becomes the command when all others have registered with it; those wait for ever then.
"""

import os
import signal
import socket
import sys

rank, nodes = int(os.environ["NODE_RANK"]), int(os.environ["NNODES"])
place = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
if rank == 0:
    with socket.create_server(place) as server:
        for _ in range(nodes - 1):
            with server.accept()[0] as other:
                sys.stdout.write(f"{other.makefile().readline().strip()} of {nodes} has registered\n")
    sys.stdout.flush()
    os.execvp(sys.argv[2], sys.argv[2:])
while True:
    try:
        with socket.create_connection(place) as first:
            first.sendall(f"rank {rank}\n".encode())
            break
    except ConnectionError:
        continue
sys.stdout.write(f"rank {rank} is there\n")
sys.stdout.flush()
signal.pause()
