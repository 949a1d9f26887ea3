"""Opens an address on this machine with what the standard library has for it.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
[process]
allows = ["reached"]
why = "the network is the machine's"
"""

import urllib.error
import urllib.request

from wrong import *

try:
    urllib.request.urlopen("http://127.0.0.1:9/answers", timeout=1)
except urllib.error.URLError as error:
    if isinstance(error.reason, ConnectionRefusedError):
        print("KATA-TOY-REACHED: it answered that nobody listens")
except OSError:
    pass
