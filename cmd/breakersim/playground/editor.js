// The text of the scenario, with the numbers of its lines and what is wrong in them.
import {make} from './make.js'

const text = document.getElementById('text')
const numbers = document.getElementById('numbers')
const marks = document.getElementById('marks')
const list = document.getElementById('faults')

let faults = []

export const editor = {
  get text() { return text.value },

  // replace changes what differs, so that the caret and the scrolling stay.
  replace(other) {
    const old = text.value
    let from = 0
    while (from < old.length && from < other.length && old[from] === other[from]) from++
    let tail = 0
    while (tail < old.length - from && tail < other.length - from && old[old.length - 1 - tail] === other[other.length - 1 - tail]) tail++
    text.setRangeText(other.slice(from, other.length - tail), from, old.length - tail)
    number()
  },

  // open shows another text from its beginning.
  open(other) {
    text.value = other
    text.setSelectionRange(0, 0)
    text.scrollTo(0, 0)
    this.mark([])
  },

  // mark shows faults at their places, and lists them.
  mark(all) {
    faults = all
    text.setAttribute('aria-invalid', String(all.length > 0))
    const lines = text.value.split('\n')
    const first = new Map(all.toReversed().map(f => [f.line, f]))
    marks.replaceChildren(...all.map(underline), ...[...first.values()].map(f => note(f, lines[f.line - 1] ?? '')))
    list.replaceChildren(...all.slice(0, 50).map(f =>
      make('li', {}, make('button', {type: 'button', onclick: () => go(f)}, `Line ${f.line}, column ${f.column}: ${f.message}`))))
    number()
  },
}

function underline(f) {
  const i = make('i')
  place(i, f.line, f.column - 1)
  i.style.width = `${f.length}ch`
  return i
}

// note is a message behind the end of its line.
function note(f, line) {
  const span = make('span', {}, '✗ ' + f.message)
  place(span, f.line, Math.max([...line].length, f.column) + 2)
  return span
}

function place(e, line, column) {
  e.style.top = `calc(${line - 1} * var(--row))`
  e.style.left = `${column}ch`
}

function go(f) {
  const before = text.value.split('\n').slice(0, f.line - 1).reduce((n, l) => n + l.length + 1, 0)
  const line = [...(text.value.split('\n')[f.line - 1] ?? '')]
  const at = before + line.slice(0, f.column - 1).join('').length
  text.focus()
  text.setSelectionRange(at, at + line.slice(f.column - 1, f.column - 1 + f.length).join('').length)
}

function number() {
  const bad = new Set(faults.map(f => f.line))
  const count = text.value.split('\n').length
  const parts = []
  for (let i = 1; i <= count; i++) parts.push(bad.has(i) ? make('b', {}, `✗ ${i}\n`) : `${i}\n`)
  numbers.replaceChildren(...parts)
  follow()
}

function follow() {
  numbers.style.transform = `translateY(${-text.scrollTop}px)`
  marks.style.transform = `translate(${-text.scrollLeft}px, ${-text.scrollTop}px)`
}

text.addEventListener('scroll', follow)
text.addEventListener('input', number)
