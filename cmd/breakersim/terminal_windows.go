package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// understandsANSI asks the console to act on ANSI sequences, which the older ones
// do not do by themselves.
func understandsANSI(f *os.File) bool {
	console, mode := windows.Handle(f.Fd()), uint32(0)
	return windows.GetConsoleMode(console, &mode) == nil &&
		windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
