//go:build race

package main

// underRace: the race detector slows everything, so the longest runs are left out.
const underRace = true
