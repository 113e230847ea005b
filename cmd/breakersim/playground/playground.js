// The playground: what is typed is played, and what comes of it is shown.
import {editor} from './editor.js'
import {showKnobs} from './knobs.js'
import {make} from './make.js'
import {pack, unpack} from './share.js'
import {Cancelled, Simulator} from './simulator.js'
import {showTold} from './told.js'

const pause = 250 // milliseconds without a key before what was typed is played
const slow = 500 // milliseconds after which a run can be stopped
const firstScenario = 'vanished-probe'

const [status, stop, kind, library, figure, picture, shownBox] = ['status', 'stop', 'kind', 'library', 'figure', 'picture', 'shown'].map(id => document.getElementById(id))
const simulator = new Simulator()
let scenarios = [] // of the library
let shown = null // what the last run gave
let turn = 0 // counts runs that were asked for
let timer = 0

function say(text, bad = false) {
  status.textContent = text
  status.classList.toggle('bad', bad)
}

// play plays the text and shows what comes of it, unless something else is
// wanted by then.
async function play() {
  clearTimeout(timer)
  const mine = ++turn
  simulator.hurry()
  const waiting = setTimeout(() => {
    if (mine !== turn) return
    say('Playing.')
    stop.hidden = false
  }, slow)
  try {
    const result = JSON.parse(await simulator.call('run', editor.text, kind.value))
    if (mine === turn) show(result)
  } catch (e) {
    if (mine === turn) say(e instanceof Cancelled ? 'Stopped.' : e.message, !(e instanceof Cancelled))
  }
  clearTimeout(waiting)
  if (mine === turn) stop.hidden = true
}

function playSoon() {
  ++turn // what is under way is not wanted any more
  clearTimeout(timer)
  timer = setTimeout(play, pause)
}

function show(result) {
  const faults = result.faults ?? []
  editor.mark(faults)
  shownBox.classList.toggle('old', faults.length > 0 || result.error !== '' && !result.told)
  if (faults.length > 0) return say(faults.length === 1 ? 'Line ' + faults[0].line + ': ' + faults[0].message : faults.length + ' things are wrong; the first is in line ' + faults[0].line + '.', true)
  if (!result.told) return say(result.error, true)
  shown = result
  const runs = result.told.policies.length
  if (result.error) say(result.error, true)
  else say(runs === 1 ? 'Played.' : `Played under ${runs} policies.`)
  showKinds(result.kinds)
  showPicture(result.picture)
  showTold(result)
  showKnobs(result.knobs ?? [], turnKnob)
}

function showKinds(kinds) {
  if (kind.options.length === kinds.length) return
  kind.replaceChildren(...kinds.map(k => make('option', {title: k.about}, k.name)))
}

// showPicture shows an SVG as an image, in which no script would run.
function showPicture(p) {
  figure.hidden = !p
  if (!p) return
  const old = picture.src
  picture.src = URL.createObjectURL(new Blob([p.svg], {type: 'image/svg+xml'}))
  picture.alt = p.alt
  picture.width = p.width
  picture.height = p.height
  if (old) URL.revokeObjectURL(old)
}

let wanted = null // the knob as it was last turned
async function turnKnob(path, value) {
  const busy = wanted !== null
  wanted = {path, value}
  ++turn // the run under way is of another text
  simulator.hurry()
  if (busy) return
  while (wanted) {
    const next = wanted
    try {
      const before = editor.text
      const text = await simulator.call('set', before, next.path, next.value)
      if (editor.text !== before || wanted !== next) continue // there is a newer text, or a newer value
      editor.replace(text)
    } catch (e) {
      if (e instanceof Cancelled) continue // in a hurry for something else
      say(e.message, true)
    }
    if (wanted === next) wanted = null
  }
  changed()
  play()
}

// changed says that the text is no longer that of the library or the link.
function changed() {
  library.value = ''
  if (location.hash) history.replaceState(null, '', location.pathname + location.search)
}

document.getElementById('text').addEventListener('input', () => { changed(); playSoon() })
kind.addEventListener('change', play)
stop.addEventListener('click', () => simulator.cancel())

library.addEventListener('change', () => {
  const s = scenarios.find(s => s.name === library.value)
  if (s) location.hash = 'library=' + s.name
})

document.getElementById('share').addEventListener('click', async () => {
  try {
    const fragment = await pack(editor.text)
    history.replaceState(null, '', '#' + fragment)
    await navigator.clipboard.writeText(location.href).then(
      () => say('The link is in the clipboard, and in the address bar. The scenario is within it.'),
      () => say('The link is in the address bar. The scenario is within it.'))
  } catch (e) {
    say(e.message, true)
  }
})

const files = {
  yaml: () => [editor.text, 'text/yaml'],
  svg: () => [shown.picture.svg, 'image/svg+xml'],
  png: async () => [await simulator.call('png', editor.text, kind.value, 2), 'image/png'],
  jsonl: async () => [await simulator.call('trace', editor.text, ''), 'application/jsonl'],
}

for (const button of document.querySelectorAll('[data-file]')) {
  button.addEventListener('click', async () => {
    button.closest('details').open = false
    const name = shown?.name ?? 'scenario'
    try {
      const [content, type] = await files[button.dataset.file]()
      const url = URL.createObjectURL(new Blob([content], {type}))
      make('a', {href: url, download: `${name}.${button.dataset.file}`}).click()
      setTimeout(() => URL.revokeObjectURL(url), 60_000)
    } catch (e) {
      say(e instanceof Cancelled ? 'Stopped.' : e.message, true)
    }
  })
}

for (const menu of document.querySelectorAll('.menu')) {
  menu.addEventListener('keydown', e => {
    if (e.key !== 'Escape') return
    menu.open = false
    menu.querySelector('summary').focus()
  })
  addEventListener('click', e => { if (!menu.contains(e.target)) menu.open = false })
}

// open shows the scenario that the address names.
async function open() {
  const fragment = location.hash.slice(1)
  let text = scenarios.find(s => s.name === firstScenario)?.source ?? ''
  let trouble = ''
  library.value = firstScenario
  if (fragment.startsWith('library=')) {
    const s = scenarios.find(s => s.name === fragment.slice('library='.length))
    if (s) {
      text = s.source
      library.value = s.name
    } else {
      trouble = 'The library has no scenario of that name.'
    }
  } else if (fragment !== '') {
    try {
      text = await unpack(fragment)
      library.value = ''
    } catch (e) {
      trouble = e.message
    }
  }
  editor.open(text)
  await play()
  if (trouble) say(trouble, true)
}

async function start() {
  const response = await fetch('library.json')
  scenarios = await response.json()
  library.append(...scenarios.map(s => make('option', {value: s.name}, s.title)))
  addEventListener('hashchange', open)
  await open()
}

globalThis.playground = {simulator, pack, unpack} // for tests, and for the curious
say('Starting.')
start().catch(e => say(e.message, true))
