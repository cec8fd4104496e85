package portable

import "golang.org/x/sys/unix"

var filesystems = map[int64]FileSystem{
	unix.NFS_SUPER_MAGIC:       NFS,
	unix.SMB_SUPER_MAGIC:       SMB,
	unix.SMB2_SUPER_MAGIC:      SMB,
	unix.CIFS_SUPER_MAGIC:      SMB,
	unix.V9FS_MAGIC:            NineP,
	unix.FUSE_SUPER_MAGIC:      FUSE,
	unix.AFS_SUPER_MAGIC:       AFS,
	unix.OVERLAYFS_SUPER_MAGIC: Overlay,
	unix.TMPFS_MAGIC:           TmpFS,
}

// FileSystemOf returns the file system of a folder. "" is one that is not listed here.
func FileSystemOf(folder string) (FileSystem, error) {
	var stat unix.Statfs_t
	err := unix.Statfs(folder, &stat)
	return filesystems[stat.Type], err
}
