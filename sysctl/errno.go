package sysctl

import (
	"errors"
	"io/fs"
	"strconv"
	"syscall"
)

// alien marks errors FreeBSD has and Linux lacks: their syscall.Errno is alien plus FreeBSD's number.
const alien syscall.Errno = 1 << 12

// Errors of FreeBSD without a Linux number. They compare like any errno;
// use [Strerror] for their text.
const (
	EPROCLIM    = alien + 67 // too many processes
	EFTYPE      = alien + 79 // inappropriate file type or format
	EAUTH       = alien + 80 // authentication error
	ENEEDAUTH   = alien + 81 // need authenticator
	ENOATTR     = alien + 87 // attribute not found
	EDOOFUS     = alien + 88 // programming error
	ENOTCAPABLE = alien + 93 // capabilities insufficient
	ECAPMODE    = alien + 94 // not permitted in capability mode
	EINTEGRITY  = alien + 97 // integrity check failed
)

// errnoInfo is FreeBSD's number and text of an error (errno.h, strerror(3)).
type errnoInfo struct {
	number int
	text   string
}

var errnos = map[syscall.Errno]errnoInfo{
	syscall.EPERM:           {1, "Operation not permitted"},
	syscall.ENOENT:          {2, "No such file or directory"},
	syscall.ESRCH:           {3, "No such process"},
	syscall.EINTR:           {4, "Interrupted system call"},
	syscall.EIO:             {5, "Input/output error"},
	syscall.ENXIO:           {6, "Device not configured"},
	syscall.E2BIG:           {7, "Argument list too long"},
	syscall.ENOEXEC:         {8, "Exec format error"},
	syscall.EBADF:           {9, "Bad file descriptor"},
	syscall.ECHILD:          {10, "No child processes"},
	syscall.EDEADLK:         {11, "Resource deadlock avoided"},
	syscall.ENOMEM:          {12, "Cannot allocate memory"},
	syscall.EACCES:          {13, "Permission denied"},
	syscall.EFAULT:          {14, "Bad address"},
	syscall.ENOTBLK:         {15, "Block device required"},
	syscall.EBUSY:           {16, "Device busy"},
	syscall.EEXIST:          {17, "File exists"},
	syscall.EXDEV:           {18, "Cross-device link"},
	syscall.ENODEV:          {19, "Operation not supported by device"},
	syscall.ENOTDIR:         {20, "Not a directory"},
	syscall.EISDIR:          {21, "Is a directory"},
	syscall.EINVAL:          {22, "Invalid argument"},
	syscall.ENFILE:          {23, "Too many open files in system"},
	syscall.EMFILE:          {24, "Too many open files"},
	syscall.ENOTTY:          {25, "Inappropriate ioctl for device"},
	syscall.ETXTBSY:         {26, "Text file busy"},
	syscall.EFBIG:           {27, "File too large"},
	syscall.ENOSPC:          {28, "No space left on device"},
	syscall.ESPIPE:          {29, "Illegal seek"},
	syscall.EROFS:           {30, "Read-only file system"},
	syscall.EMLINK:          {31, "Too many links"},
	syscall.EPIPE:           {32, "Broken pipe"},
	syscall.EDOM:            {33, "Numerical argument out of domain"},
	syscall.ERANGE:          {34, "Result too large"},
	syscall.EAGAIN:          {35, "Resource temporarily unavailable"},
	syscall.EINPROGRESS:     {36, "Operation now in progress"},
	syscall.EALREADY:        {37, "Operation already in progress"},
	syscall.ENOTSOCK:        {38, "Socket operation on non-socket"},
	syscall.EDESTADDRREQ:    {39, "Destination address required"},
	syscall.EMSGSIZE:        {40, "Message too long"},
	syscall.EPROTOTYPE:      {41, "Protocol wrong type for socket"},
	syscall.ENOPROTOOPT:     {42, "Protocol not available"},
	syscall.EPROTONOSUPPORT: {43, "Protocol not supported"},
	syscall.ESOCKTNOSUPPORT: {44, "Socket type not supported"},
	syscall.EOPNOTSUPP:      {45, "Operation not supported"},
	syscall.EPFNOSUPPORT:    {46, "Protocol family not supported"},
	syscall.EAFNOSUPPORT:    {47, "Address family not supported by protocol family"},
	syscall.EADDRINUSE:      {48, "Address already in use"},
	syscall.EADDRNOTAVAIL:   {49, "Can't assign requested address"},
	syscall.ENETDOWN:        {50, "Network is down"},
	syscall.ENETUNREACH:     {51, "Network is unreachable"},
	syscall.ENETRESET:       {52, "Network dropped connection on reset"},
	syscall.ECONNABORTED:    {53, "Software caused connection abort"},
	syscall.ECONNRESET:      {54, "Connection reset by peer"},
	syscall.ENOBUFS:         {55, "No buffer space available"},
	syscall.EISCONN:         {56, "Socket is already connected"},
	syscall.ENOTCONN:        {57, "Socket is not connected"},
	syscall.ESHUTDOWN:       {58, "Can't send after socket shutdown"},
	syscall.ETOOMANYREFS:    {59, "Too many references: can't splice"},
	syscall.ETIMEDOUT:       {60, "Operation timed out"},
	syscall.ECONNREFUSED:    {61, "Connection refused"},
	syscall.ELOOP:           {62, "Too many levels of symbolic links"},
	syscall.ENAMETOOLONG:    {63, "File name too long"},
	syscall.EHOSTDOWN:       {64, "Host is down"},
	syscall.EHOSTUNREACH:    {65, "No route to host"},
	syscall.ENOTEMPTY:       {66, "Directory not empty"},
	EPROCLIM:                {67, "Too many processes"},
	syscall.EUSERS:          {68, "Too many users"},
	syscall.EDQUOT:          {69, "Disc quota exceeded"},
	syscall.ESTALE:          {70, "Stale NFS file handle"},
	syscall.EREMOTE:         {71, "Too many levels of remote in path"},
	syscall.ENOLCK:          {77, "No locks available"},
	syscall.ENOSYS:          {78, "Function not implemented"},
	EFTYPE:                  {79, "Inappropriate file type or format"},
	EAUTH:                   {80, "Authentication error"},
	ENEEDAUTH:               {81, "Need authenticator"},
	syscall.EIDRM:           {82, "Identifier removed"},
	syscall.ENOMSG:          {83, "No message of desired type"},
	syscall.EOVERFLOW:       {84, "Value too large to be stored in data type"},
	syscall.ECANCELED:       {85, "Operation canceled"},
	syscall.EILSEQ:          {86, "Illegal byte sequence"},
	ENOATTR:                 {87, "Attribute not found"},
	EDOOFUS:                 {88, "Programming error"},
	syscall.EBADMSG:         {89, "Bad message"},
	syscall.EMULTIHOP:       {90, "Multihop attempted"},
	syscall.ENOLINK:         {91, "Link has been severed"},
	syscall.EPROTO:          {92, "Protocol error"},
	ENOTCAPABLE:             {93, "Capabilities insufficient"},
	ECAPMODE:                {94, "Not permitted in capability mode"},
	syscall.ENOTRECOVERABLE: {95, "State not recoverable"},
	syscall.EOWNERDEAD:      {96, "Previous owner died"},
	EINTEGRITY:              {97, "Integrity check failed"},
}

// errnoOf finds the errno in err's chain; errors of io/fs count as theirs.
func errnoOf(err error) (syscall.Errno, bool) {
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		return errno, true
	case errors.Is(err, fs.ErrNotExist):
		return syscall.ENOENT, true
	case errors.Is(err, fs.ErrPermission):
		return syscall.EACCES, true
	}
	return 0, false
}

// Number reports FreeBSD's errno number of the first errno in err's chain: 0
// for nil, -1 when there is none or FreeBSD has no such error.
func Number(err error) int {
	if err == nil {
		return 0
	}
	if errno, ok := errnoOf(err); ok {
		if info, ok := errnos[errno]; ok {
			return info.number
		}
	}
	return -1
}

// Strerror reports FreeBSD's text of the first errno in err's chain, as
// strerror(3) prints it. An error without an errno gives its own text.
func Strerror(err error) string {
	if err == nil {
		return "No error: 0"
	}
	errno, ok := errnoOf(err)
	if !ok {
		return err.Error()
	}
	if info, ok := errnos[errno]; ok {
		return info.text
	}
	return "Unknown error: " + strconv.Itoa(int(errno))
}
