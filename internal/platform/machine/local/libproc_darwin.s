#include "textflag.h"

TEXT libc_proc_pidinfo_trampoline<>(SB),NOSPLIT,$0-0
	JMP	libc_proc_pidinfo(SB)
GLOBL	·procPIDInfo(SB), RODATA, $8
DATA	·procPIDInfo(SB)/8, $libc_proc_pidinfo_trampoline<>(SB)

TEXT libc_proc_pidfdinfo_trampoline<>(SB),NOSPLIT,$0-0
	JMP	libc_proc_pidfdinfo(SB)
GLOBL	·procPIDFDInfo(SB), RODATA, $8
DATA	·procPIDFDInfo(SB)/8, $libc_proc_pidfdinfo_trampoline<>(SB)
