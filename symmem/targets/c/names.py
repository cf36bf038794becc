"""The user's names in C.  They stand in one place: as the fields of the struct of parameters.

Inside functions every name is our own, so that nothing of the user's can hide a function, a type or a macro.  A field
keeps its spelling unless C or C++ reads it otherwise: keywords, and macros that stand for something (``errno``,
``DBL_MAX``), which a program may have included before our header.  Such a field ends with an underscore.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sympy import Symbol

from symmem.program.scope import Scope

_KEYWORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class
    co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype
    default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline
    int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch
    template this thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using
    virtual void volatile wchar_t while xor xor_eq
"""
_MACROS = """
    complex errno imaginary linux math_errhandling noreturn stderr stdin stdout unix
    i386 sun sparc mips hpux vax m68k near far
    sa_handler sa_sigaction sigev_notify_attributes sigev_notify_function si_addr si_addr_lsb si_arch si_band
    si_call_addr si_fd si_int si_lower si_overrun si_pid si_pkey si_ptr si_status si_stime si_syscall si_timerid
    si_uid si_upper si_utime si_value
    BIG_ENDIAN BUFSIZ BYTE_ORDER CLOCKS_PER_SEC DECIMAL_DIG EOF EXIT_FAILURE EXIT_SUCCESS FD_SETSIZE HUGE_VAL
    HUGE_VALF HUGE_VALL I INFINITY LITTLE_ENDIAN L_INCR L_SET L_XTND L_ctermid L_cuserid L_tmpnam MAX_CANON
    MAX_INPUT MINSIGSTKSZ NAN NDEBUG NFDBITS NGREG NSIG NULL NZERO MAXFLOAT F_LOCK F_TEST F_TLOCK F_ULOCK ONCE_FLAG_INIT
    PDP_ENDIAN PIPE_BUF PTHREAD_DESTRUCTOR_ITERATIONS P_tmpdir SNAN SNANF SNANL
    TSS_DTOR_ITERATIONS WEOF WEXITED WNOHANG WNOWAIT WSTOPPED WUNTRACED WCONTINUED
    E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EADV EAFNOSUPPORT EAGAIN EALREADY EBADE EBADF EBADFD EBADMSG EBADR EBADRQC
    EBADSLT EBFONT EBUSY ECANCELED ECHILD ECHRNG ECOMM ECONNABORTED ECONNREFUSED ECONNRESET EDEADLK EDEADLOCK
    EDESTADDRREQ EDOM EDOTDOT EDQUOT EEXIST EFAULT EFBIG EHOSTDOWN EHOSTUNREACH EHWPOISON EIDRM EILSEQ EINPROGRESS
    EINTR EINVAL EIO EISCONN EISDIR EISNAM EKEYEXPIRED EKEYREJECTED EKEYREVOKED EL2HLT EL2NSYNC EL3HLT EL3RST ELIBACC
    ELIBBAD ELIBEXEC ELIBMAX ELIBSCN ELNRNG ELOOP EMEDIUMTYPE EMFILE EMLINK EMSGSIZE EMULTIHOP ENAMETOOLONG ENAVAIL
    ENETDOWN ENETRESET ENETUNREACH ENFILE ENOANO ENOBUFS ENOCSI ENODATA ENODEV ENOENT ENOEXEC ENOKEY ENOLCK ENOLINK
    ENOMEDIUM ENOMEM ENOMSG ENONET ENOPKG ENOPROTOOPT ENOSPC ENOSR ENOSTR ENOSYS ENOTBLK ENOTCONN ENOTDIR ENOTEMPTY
    ENOTNAM ENOTRECOVERABLE ENOTSOCK ENOTSUP ENOTTY ENOTUNIQ ENXIO EOPNOTSUPP EOVERFLOW EOWNERDEAD EPERM
    EPFNOSUPPORT EPIPE EPROTO EPROTONOSUPPORT EPROTOTYPE ERANGE EREMCHG EREMOTE EREMOTEIO ERESTART ERFKILL EROFS
    ESHUTDOWN ESOCKTNOSUPPORT ESPIPE ESRCH ESRMNT ESTALE ESTRPIPE ETIME ETIMEDOUT ETOOMANYREFS ETXTBSY EUCLEAN EUNATCH
    EUSERS EWOULDBLOCK EXDEV EXFULL
"""
WORDS = frozenset((*_KEYWORDS.split(), *_MACROS.split()))
_FAMILIES = re.compile(
    r"[A-Z][A-Z0-9_]*_(MAX|MIN|WIDTH|BIT|OK|FILENO)"
    r"|(FLT|FLT[0-9]+X?|DBL|LDBL|DEC[0-9]*|FP|FE|MATH|LC|SIG|SIGEV|SA|SS|SI|SEEK|TIME|TIMER|CLOCK|ADJ|MOD|STA|ATOMIC"
    r"|FPE|ILL|SEGV|BUS|TRAP|CLD|POLL|SYMMEM|REG|NL|RENAME|CLOSE_RANGE)_[A-Z0-9_]*"
    r"|M_([12]_)?(E|PI|PI_[24]|LOG2E|LOG10E|LN2|LN10|SQRTPI|SQRT2|SQRT1_2)(l|f[0-9]*x?)?"
    r"|(PRI|SCN)[diouxX](LEAST|FAST|MAX|PTR)?[0-9]*|SIG[A-Z0-9]+|(HUGE_VAL_|SNAN)F[0-9]+X?|atomic_[a-z_]+"
)
"""Macros of the standard headers that share a form: their families grow with every edition of the standard."""


def is_word(name: str) -> bool:
    """Whether C or C++, or a header of theirs, reads the name as something else."""
    return name in WORDS or _FAMILIES.fullmatch(name) is not None


def fields_of(parameters: Iterable[str]) -> dict[Symbol, str]:
    """The fields of the struct of parameters, by their symbols: ``errno`` is the field ``errno_``."""
    names = tuple(parameters)
    scope = Scope(names, words=filter(is_word, names))
    return {Symbol(name): scope.kept(name) for name in names}
