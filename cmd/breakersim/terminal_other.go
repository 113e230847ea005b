//go:build !windows

package main

import "os"

// understandsANSI is true of every other terminal; dumb ones say so.
func understandsANSI(*os.File) bool { return true }
