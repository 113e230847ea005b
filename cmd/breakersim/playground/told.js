// What came of a scenario, in words and figures.
import {make} from './make.js'

const box = document.getElementById('told')

export function showTold(shown) {
  const {told} = shown
  box.replaceChildren(
    make('h2', {}, shown.title || shown.name),
    ...(shown.about ?? []).map(p => make('p', {}, p)),
    make('h2', {}, 'What happened'), ...told.stories.flatMap(story),
    make('h2', {}, 'What it cost'), table(told),
    ...(shown.expect ? [make('h2', {}, 'What the scenario expects'), make('ul', {}, ...shown.expect.map(expectation))] : []),
    make('h2', {}, 'Settings'), make('ul', {}, ...(told.settings ?? []).map(s => make('li', {}, s))),
  )
}

function story(run) {
  const head = run.policy ? [make('h3', {}, 'Under ' + run.policy)] : []
  if (run.policy && run.about) head.push(make('p', {className: 'note'}, run.about))
  return [...head, ...(run.paragraphs ?? []).map(p => make('p', {}, p))]
}

function table(told) {
  const head = make('tr', {}, make('th', {scope: 'col'}, 'figure'), ...told.policies.map(p => make('th', {scope: 'col'}, p)))
  const row = r => make('tr', {}, make('th', {scope: 'row'}, r.heading, ' ', make('small', {}, r.about)), ...r.cells.map(c => make('td', {}, c)))
  const scroll = make('section', {className: 'scroll', tabIndex: 0},
    make('table', {}, make('caption', {}, 'Figures of the run under each policy. Where there are several outages or breakers, the largest stands.'),
      make('thead', {}, head), ...told.table.map(group => make('tbody', {}, ...group.map(row)))))
  scroll.setAttribute('aria-label', 'What it cost')
  return scroll
}

function expectation(e) {
  return make('li', {}, e.text, ...(e.failed ?? []).flatMap(f => [' ', make('strong', {}, 'It did not come so: ' + f)]))
}
