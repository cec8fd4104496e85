package doctor

import "golang.org/x/sys/unix"

// filesystems are the file systems that doctor reports.
var filesystems = map[string]filesystem{
	"nfs":    {"nfs", "locks on NFS depend on its server, and two machines that share the folder do not see each other's processes", false},
	"smbfs":  {"smb", likeWindows, false},
	"webdav": {"webdav", "locks there hold on this machine only, and a rename may not be atomic", false},
	"tmpfs":  {"tmpfs", "", true},
}

// filesystemOf returns the file system of a folder.
func filesystemOf(folder string) (filesystem, error) {
	var stat unix.Statfs_t
	err := unix.Statfs(folder, &stat)
	return filesystems[unix.ByteSliceToString(stat.Fstypename[:])], err
}
