// make is a new element. Strings among the children are text, never markup.
export function make(name, properties = {}, ...children) {
  const e = Object.assign(document.createElement(name), properties)
  e.append(...children)
  return e
}
