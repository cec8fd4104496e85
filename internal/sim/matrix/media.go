package matrix

import (
	"fmt"
	"io"
	"mime"
	"net/http"
)

// MaxUpload is the longest file that the server takes, in bytes.
const MaxUpload = 8 << 20

// file is one of the content repository.
type file struct {
	name, kind string
	content    []byte
}

// keep keeps a file, and returns its mxc URI. The lock is held.
func (s *Server) keep(f file) string {
	if f.content == nil {
		f.content = []byte{}
	}
	uri := fmt.Sprintf("mxc://%s/file%d", host, len(s.media)+1)
	s.media[uri] = f
	return uri
}

func (s *Server) upload(w http.ResponseWriter, r *http.Request) {
	content, err := io.ReadAll(io.LimitReader(r.Body, MaxUpload+1))
	s.Mu.Lock()
	defer s.Mu.Unlock()
	kind := r.Header.Get("Content-Type")
	if kind == "" {
		s.Fault("upload: there is no content type")
	}
	switch {
	case err != nil:
		refused(http.StatusBadRequest, "M_UNKNOWN", "%v", err).tell(w)
	case len(content) > MaxUpload:
		refused(http.StatusRequestEntityTooLarge, "M_TOO_LARGE", "Cannot upload content this large").tell(w)
	default:
		write(w, http.StatusOK, map[string]any{"content_uri": s.keep(file{r.URL.Query().Get("filename"), kind, content})})
	}
}

func (s *Server) config(w http.ResponseWriter, _ *http.Request) {
	write(w, http.StatusOK, map[string]any{"m.upload.size": MaxUpload})
}

func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	s.Mu.Lock()
	f, is := s.media["mxc://"+r.PathValue("server")+"/"+r.PathValue("media")]
	s.Mu.Unlock()
	if !is {
		refused(http.StatusNotFound, "M_NOT_FOUND", "Not found").tell(w)
		return
	}
	w.Header().Set("Content-Type", f.kind)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.name}))
	_, _ = w.Write(f.content) // a bot that is gone does not read it
}
