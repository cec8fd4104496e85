package turn

import (
	"encoding/base64"
	"slices"
)

// Image is a picture that is sent with a text.
type Image struct {
	Type string // as of IsImage
	Data []byte // at most ImageLimit bytes
}

// ImageLimit is the largest size of a picture: the API takes 5 MB of its base64.
const ImageLimit = 5 << 20 / 4 * 3 // bytes

// IsImage reports whether the API takes pictures of a media type.
func IsImage(media string) bool {
	return slices.Contains([]string{"image/jpeg", "image/png", "image/gif", "image/webp"}, media)
}

type imageSource struct {
	Type  string `json:"type"`
	Media string `json:"media_type"`
	Data  string `json:"data"`
}

// imageBlocks returns pictures in the blocks that are sent. The text follows them: claude takes the last block for it.
func imageBlocks(images []Image) []saidBlock {
	var all []saidBlock
	for _, i := range images {
		all = append(all, saidBlock{Type: "image", Source: &imageSource{"base64", i.Type, base64.StdEncoding.EncodeToString(i.Data)}})
	}
	return all
}
