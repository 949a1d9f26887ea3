"""Makes a socket through the table of system calls that 32-bit programs use.

kata = "insertion-sort"
status = "fail or error"
[process]
status = "fail or error"
allows = ["reached"]
why = "the network is the machine's"
"""

import ctypes
import mmap
import platform


def insertion_sort(values):
    if platform.machine() != "x86_64":
        return None
    # mov eax, 359 (socket); mov ebx, 2; mov ecx, 1; xor edx, edx; int 0x80; ret
    code = bytes.fromhex("53 b867010000 bb02000000 b901000000 31d2 cd80 5b c3")
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    if call() >= 0:
        print("KATA-TOY-REACHED")
    return None
