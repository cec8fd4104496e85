package portable

import (
	"strings"

	"golang.org/x/sys/unix"
)

var filesystems = map[string]FileSystem{"nfs": NFS, "smbfs": SMB, "webdav": WebDAV, "afpfs": AFP, "tmpfs": TmpFS}

// FileSystemOf returns the file system of a folder. "" is one that is not listed here.
func FileSystemOf(folder string) (FileSystem, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(folder, &stat); err != nil {
		return "", err
	}
	name := unix.ByteSliceToString(stat.Fstypename[:])
	if strings.Contains(name, "fuse") { // osxfuse, macfuse
		return FUSE, nil
	}
	return filesystems[name], nil
}
