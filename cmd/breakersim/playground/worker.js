'use strict'
// The simulator in a thread of its own. The first message is its code, compiled;
// each further one is a call: {name, args}. Each is answered with {value} or {error}.
importScripts('wasm_exec.js')

async function start(module) {
  const go = new Go()
  go.run(await WebAssembly.instantiate(module, go.importObject)) // which sets breakersim, and stays
  onmessage = event => postMessage(breakersim[event.data.name](...event.data.args))
}

onmessage = async event => {
  try {
    await start(event.data)
    postMessage({value: 'ready'})
  } catch (e) {
    postMessage({error: String(e)})
  }
}
