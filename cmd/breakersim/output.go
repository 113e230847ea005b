package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
)

// temporaries are the files that still have temporary names, for Ctrl-C.
var temporaries struct {
	sync.Mutex
	names map[string]bool
}

func setTemporary(name string, is bool) {
	temporaries.Lock()
	defer temporaries.Unlock()
	if temporaries.names == nil {
		temporaries.names = map[string]bool{}
	}
	if is {
		temporaries.names[name] = true
	} else {
		delete(temporaries.names, name)
	}
}

// cleanUpOnSignal removes temporary files when the process is told to end.
func cleanUpOnSignal() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		temporaries.Lock() // and keep it: nobody makes another
		for name := range temporaries.names {
			os.Remove(name)
		}
		os.Exit(exitInterrupted)
	}()
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
	return &folder{dir: dir}, os.MkdirAll(dir, 0o777)
}

// create opens a file that will be called name.
func (f *folder) create(name string) (io.Writer, error) {
	temporary := filepath.Join(f.dir, fmt.Sprintf(".%s.%d.tmp", name, os.Getpid()))
	setTemporary(temporary, true)
	file, err := os.Create(temporary)
	if err != nil {
		setTemporary(temporary, false)
		return nil, err
	}
	f.files = append(f.files, file)
	f.names = append(f.names, name)
	return file, nil
}

// write makes a file of what draw writes.
func (f *folder) write(name string, draw func(io.Writer) error) error {
	w, err := f.create(name)
	if err != nil {
		return err
	}
	return draw(w)
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
		setTemporary(file.Name(), false)
	}
	f.files = nil
	return nil
}

// discard removes what was not committed.
func (f *folder) discard() {
	for _, file := range f.files {
		file.Close()
		os.Remove(file.Name())
		setTemporary(file.Name(), false)
	}
}
