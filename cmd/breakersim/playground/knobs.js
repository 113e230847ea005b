// Sliders for the numbers of the breakers.
import {make} from './make.js'

const box = document.getElementById('knobs')
let rows = new Map() // by path
let held = null // the slider that is being dragged

// showKnobs shows a slider for each knob; turn is called with a path and a value.
export function showKnobs(knobs, turn) {
  const same = knobs.length === rows.size && knobs.every(k => rows.has(k.path))
  if (!same) build(knobs, turn)
  for (const k of knobs) rows.get(k.path).show(k)
}

function build(knobs, turn) {
  rows = new Map(knobs.map(k => [k.path, row(k, turn)]))
  const groups = Map.groupBy(knobs, k => k.policy ? `${k.breaker}, under ${k.policy}` : k.breaker)
  box.replaceChildren(...[...groups].map(([name, all]) => make('fieldset', {}, make('legend', {}, name), ...all.map(k => rows.get(k.path).element))))
  if (knobs.length === 0) box.replaceChildren(make('p', {className: 'note'}, 'This scenario has no breaker.'))
}

function row(knob, turn) {
  const id = 'knob-' + knob.path
  let steps = knob.steps
  const input = make('input', {type: 'range', id, min: 0})
  const output = make('output')
  output.setAttribute('for', id)
  const tell = () => {
    output.textContent = steps[input.value].text
    input.setAttribute('aria-valuetext', output.textContent)
  }
  input.addEventListener('pointerdown', () => { held = input })
  input.addEventListener('input', () => { tell(); turn(knob.path, steps[input.value].value) })
  const show = k => {
    if (held === input) return
    steps = k.steps
    input.max = steps.length - 1
    input.value = k.at
    tell()
  }
  return {element: make('div', {className: 'knob'}, make('label', {htmlFor: id}, knob.key, make('small', {}, knob.about)), output, input), show}
}

for (const end of ['pointerup', 'pointercancel']) addEventListener(end, () => { held = null })
