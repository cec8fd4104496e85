package portable

// FileSystem is a kind of file system whose locks, names or lifetime differ from those of a local disk.
type FileSystem string

// The kinds that are told apart.
const (
	NFS     FileSystem = "nfs"
	SMB     FileSystem = "smb"
	NineP   FileSystem = "9p"
	FUSE    FileSystem = "fuse"
	AFS     FileSystem = "afs"
	AFP     FileSystem = "afp"
	WebDAV  FileSystem = "webdav"
	Overlay FileSystem = "overlay"
	TmpFS   FileSystem = "tmpfs"
)
