package doctor

import "golang.org/x/sys/unix"

// filesystems are the file systems that doctor reports.
var filesystems = map[int64]filesystem{
	unix.NFS_SUPER_MAGIC:       {"nfs", "locks on NFS depend on its server, and two machines that share the folder do not see each other's processes", false},
	unix.SMB_SUPER_MAGIC:       {"smb", likeWindows, false},
	unix.SMB2_SUPER_MAGIC:      {"smb2", likeWindows, false},
	unix.CIFS_SUPER_MAGIC:      {"cifs", likeWindows, false},
	unix.V9FS_MAGIC:            {"9p", "locks on 9p hold on this machine only, and a rename may not be atomic", false},
	unix.FUSE_SUPER_MAGIC:      {"fuse", "the program behind a FUSE disk decides whether locks and syncs work", false},
	unix.AFS_SUPER_MAGIC:       {"afs", "AFS does not enforce locks between machines, and its modes differ from those of Linux", false},
	unix.OVERLAYFS_SUPER_MAGIC: {"overlay", "", true},
	unix.TMPFS_MAGIC:           {"tmpfs", "", true},
}

// filesystemOf returns the file system of a folder.
func filesystemOf(folder string) (filesystem, error) {
	var stat unix.Statfs_t
	err := unix.Statfs(folder, &stat)
	return filesystems[stat.Type], err
}
