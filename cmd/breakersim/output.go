package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
)

// unfinished is what a run that ends early must not leave behind.
var unfinished = struct {
	sync.Mutex
	files   map[string]bool // with temporary names
	folders map[string]bool // that were not there before
	trees   []string        // that are for this run alone
}{files: map[string]bool{}, folders: map[string]bool{}}

// endings are the signals that end a run; each as shells count it.
var endings = map[os.Signal]int{syscall.SIGHUP: 129, os.Interrupt: 130, syscall.SIGTERM: 143}

// cleanUpOnSignal removes what is unfinished when the process is told to end.
func cleanUpOnSignal() {
	signals := make(chan os.Signal, 1)
	for s := range endings {
		if !signal.Ignored(s) { // nohup stays in force
			signal.Notify(signals, s)
		}
	}
	go func() {
		s := <-signals
		ending.Lock()
		do := ending.do
		ending.Unlock()
		if do != nil {
			do()
		}
		removeUnfinished()
		os.Exit(endings[s])
	}()
}

// removeUnfinished is for the very end: it keeps the lock, so that nobody
// makes another file.
func removeUnfinished() {
	unfinished.Lock()
	for name := range unfinished.files {
		os.Remove(name)
	}
	for dir := range unfinished.folders {
		removeIfMade(dir)
	}
	for _, dir := range unfinished.trees {
		os.RemoveAll(dir)
	}
}

// makeTemporary makes a folder that is gone in the end, with all that is in it.
func makeTemporary() (string, error) {
	unfinished.Lock()
	defer unfinished.Unlock()
	dir, err := os.MkdirTemp("", "breakersim-")
	if err == nil {
		unfinished.trees = append(unfinished.trees, dir)
	}
	return dir, err
}

// makeFolder makes dir and its parents, and remembers which were not there.
func makeFolder(dir string) error {
	unfinished.Lock()
	defer unfinished.Unlock()
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(d); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		unfinished.folders[d] = true
	}
	return os.MkdirAll(dir, 0o777)
}

// removeIfMade removes dir and its parents as far as the run made them and
// they are empty. The caller holds the lock.
func removeIfMade(dir string) {
	for ; unfinished.folders[dir] && os.Remove(dir) == nil; dir = filepath.Dir(dir) {
		delete(unfinished.folders, dir)
	}
}

// folder collects the files of one scenario under temporary names. Commit gives
// them their own names; until then nothing that was there before is touched.
type folder struct {
	dir   string
	files []*os.File
	names []string
}

// openFolder makes dir and its parents.
func openFolder(dir string) (*folder, error) {
	return &folder{dir: filepath.Clean(dir)}, makeFolder(filepath.Clean(dir))
}

// create opens a file that will be called name.
func (f *folder) create(name string) (io.Writer, error) {
	temporary := filepath.Join(f.dir, fmt.Sprintf(".%s.%d.tmp", name, os.Getpid()))
	unfinished.Lock() // a signal comes before or after, not in between
	defer unfinished.Unlock()
	file, err := os.Create(temporary)
	if err != nil {
		return nil, err
	}
	unfinished.files[temporary] = true
	f.files = append(f.files, file)
	f.names = append(f.names, name)
	return file, nil
}

// open reads what has been written to the file that will be called name.
func (f *folder) open(name string) (*os.File, error) {
	return os.Open(f.files[slices.Index(f.names, name)].Name())
}

// write makes a file of what draw writes.
func (f *folder) write(name string, draw func(io.Writer) error) error {
	w, err := f.create(name)
	if err != nil {
		return err
	}
	return draw(w)
}

// drop takes back the file that was to be called name.
func (f *folder) drop(name string) {
	i := slices.Index(f.names, name)
	f.remove(f.files[i])
	f.files, f.names = slices.Delete(f.files, i, i+1), slices.Delete(f.names, i, i+1)
}

// commit puts every file in its place.
func (f *folder) commit() error {
	for i, file := range f.files {
		err := file.Close()
		if err == nil {
			err = os.Rename(file.Name(), filepath.Join(f.dir, f.names[i]))
		}
		if err != nil {
			return err
		}
		f.forget(file)
	}
	f.files = nil
	return nil
}

func (f *folder) remove(file *os.File) {
	file.Close()
	os.Remove(file.Name())
	f.forget(file)
}

func (*folder) forget(file *os.File) {
	unfinished.Lock()
	defer unfinished.Unlock()
	delete(unfinished.files, file.Name())
}

// discard removes what was not committed, and the folder if it is empty.
func (f *folder) discard() {
	for _, file := range f.files {
		f.remove(file)
	}
	unfinished.Lock()
	defer unfinished.Unlock()
	removeIfMade(f.dir)
}
