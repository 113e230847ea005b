package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/breakersim/breakersim/sim/sweep"
)

// recordFile is the record of a sweep in its folder. Until it is whole its name
// ends in .partial; what is in there is kept whatever happens.
type recordFile struct{ dir, name string }

func newRecordFile(dir string, shard sweep.Shard) recordFile {
	name := "results.jsonl"
	if shard.N > 0 {
		name = fmt.Sprintf("shard-%d-of-%d.jsonl", shard.I, shard.N)
	}
	return recordFile{dir, name}
}

func (r recordFile) path() string    { return filepath.Join(r.dir, r.name) }
func (r recordFile) partial() string { return r.path() + ".partial" }

// flushEach is after how many runs they are written down: a kill costs no more.
const flushEach = 20

// play plays the runs that the record does not have yet, and says how many it
// has in the end.
func (r recordFile) play(p *sweep.Plan, h sweep.Header, o sweep.Options, resume bool, bar *progressBar) (done int, err error) {
	if done, ok, err := r.whole(h); resume && (ok || err != nil) {
		return done, err
	}
	if err := os.MkdirAll(r.dir, 0o777); err != nil {
		return 0, err
	}
	file, w, kept, err := r.open(p, h, resume)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	o.Kept = kept
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	flushed := make(chan struct{})
	forget := beforeEnding(func() { // the runs so far are kept
		stop()
		<-flushed
		bar.interrupted(done, r.partial())
	})
	defer forget()
	err = p.Play(ctx, o, func(row *sweep.Row, at sweep.Progress) error {
		done = at.Done
		if err := w.Row(row); err != nil {
			return err
		}
		if bar.due() {
			bar.show(at)
		}
		if at.Played%flushEach == 0 {
			return w.Flush()
		}
		return nil
	})
	err = errors.Join(err, w.Flush())
	close(flushed)
	if ctx.Err() != nil {
		select {} // the process ends by the signal
	}
	bar.close()
	var cell *sweep.CellError
	if errors.As(err, &cell) {
		err = wrong{err}
	}
	if err != nil {
		return done, err
	}
	if err := errors.Join(w.Close(), file.Sync(), file.Close()); err != nil {
		return done, err
	}
	return max(done, w.Rows()), os.Rename(r.partial(), r.path())
}

// whole says whether the record of just this sweep is there already, and whole.
func (r recordFile) whole(h sweep.Header) (rows int, ok bool, err error) {
	file, err := os.Open(r.path())
	if err != nil {
		return 0, false, nil
	}
	defer file.Close()
	in, err := sweep.NewReader(file)
	if err != nil || in.Header != h {
		return 0, false, nil // of another sweep: it is played anew
	}
	p, err := in.Plan()
	if err != nil {
		return 0, false, err
	}
	in.For(p)
	if err := drain(in); err != nil {
		return 0, false, fmt.Errorf("%s: %w", r.path(), err)
	}
	return in.Rows(), in.Done(), nil
}

func drain(in *sweep.Reader) error {
	for {
		if row, err := in.Next(); row == nil || err != nil {
			return err
		}
	}
}

// open begins the record, or goes on with it.
func (r recordFile) open(p *sweep.Plan, h sweep.Header, resume bool) (*os.File, *sweep.Writer, func() (*sweep.Row, error), error) {
	_, err := os.Stat(r.partial())
	switch {
	case err == nil && resume:
		if file, w, kept, err := r.reopen(p, h); !errors.Is(err, sweep.ErrEmpty) {
			return file, w, kept, err
		}
	case err == nil:
		return nil, nil, nil, wrong{fmt.Errorf("%s holds an interrupted sweep; go on with it by --resume, or remove the file", r.partial())}
	}
	file, err := os.Create(r.partial())
	if err != nil {
		return nil, nil, nil, err
	}
	w, err := sweep.NewWriter(file, p, h)
	if err == nil {
		err = w.Flush()
	}
	return file, w, nil, err
}

// reopen reads what there is, cuts off a line that is not whole, and gives the
// rows once more to who goes on.
func (r recordFile) reopen(p *sweep.Plan, h sweep.Header) (*os.File, *sweep.Writer, func() (*sweep.Row, error), error) {
	fail := func(err error) (*os.File, *sweep.Writer, func() (*sweep.Row, error), error) {
		return nil, nil, nil, wrong{fmt.Errorf("%s: %w; remove the file to begin anew", r.partial(), err)}
	}
	file, err := os.OpenFile(r.partial(), os.O_RDWR, 0)
	if err != nil {
		return nil, nil, nil, err
	}
	in, err := sweep.NewReader(file)
	if err != nil {
		return fail(err)
	}
	if in.Header != h {
		return fail(errors.New("it is of another state of the sweep, of its base, of the flags or of the program"))
	}
	in.For(p)
	if err := drain(in); err != nil {
		return fail(err)
	}
	rows, end := in.Rows(), in.Offset()
	if err := file.Truncate(end); err != nil {
		return nil, nil, nil, err
	}
	again, err := os.Open(r.partial())
	if err != nil {
		return nil, nil, nil, err
	}
	if _, err := file.Seek(end, io.SeekStart); err != nil {
		return nil, nil, nil, err
	}
	kept, err := sweep.NewReader(again)
	if err != nil {
		return fail(err)
	}
	kept.For(p)
	next := func() (*sweep.Row, error) {
		row, err := kept.Next()
		if row == nil {
			again.Close()
		}
		return row, err
	}
	return file, sweep.ContinueWriter(file, p, rows), next, nil
}

// ending is what to do before a signal ends the process.
var ending struct {
	sync.Mutex
	do func()
}

// beforeEnding has something done before a signal ends the process, until it is
// forgotten.
func beforeEnding(do func()) (forget func()) {
	ending.Lock()
	defer ending.Unlock()
	ending.do = do
	return func() {
		ending.Lock()
		defer ending.Unlock()
		ending.do = nil
	}
}
