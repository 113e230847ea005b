package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// change is a file that is not as it should be.
type change struct {
	path string // as it is told
	real string // where it is, whatever links lead there
	page bool   // it is Markdown; otherwise a picture
	old  []byte // nil: there is none
	new  []byte
	mode fs.FileMode // of the old one
}

// changes are the pictures, and then the pages, that are not as they should be.
func (b *book) changes() (all []change, err error) {
	for _, key := range b.drawn {
		f := b.files[key]
		c := change{path: f.path, new: f.data}
		if c.old, err = os.ReadFile(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, wrong{err}
		}
		if c.old == nil || !alike(c.old, c.new) {
			all = append(all, c)
		}
	}
	for _, p := range b.pages {
		if err := p.check(); err != nil {
			return nil, wrong{err}
		}
		if !bytes.Equal(p.src, p.text) {
			all = append(all, change{path: p.path, page: true, old: p.src, new: p.text})
		}
	}
	return all, nil
}

// makeChanges writes all files under temporary names, and then puts them in
// their places: the pictures first, as the pages refer to them.
func makeChanges(w io.Writer, changes []change) error {
	var faults []error
	for i := range changes {
		faults = append(faults, changes[i].find())
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	var folders []*folder
	for i := range changes {
		c := &changes[i]
		f, err := openFolder(filepath.Dir(c.real))
		defer f.discard()
		if err == nil {
			err = f.write(filepath.Base(c.real), func(w io.Writer) error { _, err := w.Write(c.new); return err })
		}
		if err == nil && c.old != nil {
			err = f.files[0].Chmod(c.mode)
		}
		if err != nil {
			return err
		}
		folders = append(folders, f)
	}
	for i, f := range folders {
		if err := f.commit(); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, "wrote", changes[i].path); err != nil {
			return err
		}
	}
	return nil
}

// find finds where a changed file is, and refuses what must not be replaced.
func (c *change) find() error {
	c.real = c.path
	info, err := os.Lstat(c.path)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if c.real, err = filepath.EvalSymlinks(c.path); err != nil {
			return fmt.Errorf("%s is a link to a file that is not there", c.path)
		}
		info, err = os.Stat(c.real)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no file that could be written", c.path)
	case info.Mode().Perm()&0o200 == 0:
		return fmt.Errorf("%s is read-only", c.path)
	}
	c.mode = info.Mode().Perm()
	return nil
}
