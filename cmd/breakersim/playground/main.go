//go:build js && wasm

// Command playground is the simulator as a browser runs it: the page that is
// beside it calls it from a worker.
package main

import (
	"bytes"
	"encoding/json"
	"syscall/js"

	"github.com/breakersim/breakersim/cmd/breakersim/internal/lab"
)

// main gives the worker an object breakersim, with functions that take text. Each
// returns an object of which value is what was asked for, or error says why not.
func main() {
	var l lab.Lab
	js.Global().Set("breakersim", js.ValueOf(map[string]any{
		"run": function(func(args []js.Value) (any, error) { // text, kind of picture: JSON
			b, err := json.Marshal(l.Run(args[0].String(), args[1].String()))
			return string(b), err
		}),
		"set": function(func(args []js.Value) (any, error) { // text, path, value: the new text
			return l.Set(args[0].String(), args[1].String(), args[2].String())
		}),
		"png": function(func(args []js.Value) (any, error) { // text, kind of picture, scale: bytes
			b, err := l.PNG(args[0].String(), args[1].String(), args[2].Int())
			return bytesOf(b), err
		}),
		"trace": function(func(args []js.Value) (any, error) { // text, policy: bytes
			var b bytes.Buffer
			err := l.Trace(&b, args[0].String(), args[1].String())
			return bytesOf(b.Bytes()), err
		}),
	}))
	select {} // it is there for as long as the worker
}

func function(f func(args []js.Value) (any, error)) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) any {
		value, err := f(args)
		if err != nil {
			return map[string]any{"error": err.Error()}
		}
		return map[string]any{"value": value}
	})
}

func bytesOf(b []byte) js.Value {
	array := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(array, b)
	return array
}
