# SPDX-License-Identifier: Apache-2.0
"""Private set intersection by Diffie-Hellman: what two sets have in common, and nothing else.

>>> from psi import Client, Server, connect_pair
>>> with connect_pair() as (here, there):
...     run_in_thread = Server("p256", [b"ann", b"bob", b"cid"]).start(there)
...     found = Client("p256", [b"eve", b"cid", b"ann"]).run(here)
...     run_in_thread.result()
>>> sorted(found.items)
[b'ann', b'cid']
"""

from psi.groups import GROUPS, ElementError
from psi.parties import Client, Intersection, ProtocolError, Server, connect_pair

__all__ = ["GROUPS", "Client", "ElementError", "Intersection", "ProtocolError", "Server", "connect_pair"]
