// The simulator, which plays in a worker: typing never waits for it.

// Cancelled is what becomes of calls that nobody waits for any more.
export class Cancelled extends Error {}

const patience = 400 // milliseconds that a run which nobody wants any more may go on

async function compile() {
  const response = await fetch('breakersim.wasm')
  if (!response.ok) throw new Error(await response.text())
  const copy = response.clone()
  try {
    return await WebAssembly.compileStreaming(response)
  } catch { // a server that does not know the type of the file
    return WebAssembly.compile(await copy.arrayBuffer())
  }
}

export class Simulator {
  #module = compile()
  #worker = null
  #waiting = [] // calls that have not begun
  #current = null // the one that has
  #since = 0 // when it did
  #giveUp = null // rejects what the worker was asked
  #busy = false

  // call has the simulator do something, after what it was asked to do before.
  call(name, ...args) {
    return new Promise((resolve, reject) => {
      this.#waiting.push({name, args, resolve, reject})
      if (!this.#busy) this.#work()
    })
  }

  // hurry gives up what has not begun, and a call that has been going on for long.
  hurry() {
    this.#drop()
    const call = this.#current
    if (call) setTimeout(() => { if (this.#current === call) this.#stop() }, this.#since + patience - performance.now())
  }

  // cancel gives up everything.
  cancel() {
    this.#drop()
    if (this.#current) this.#stop()
  }

  #drop() {
    for (const call of this.#waiting.splice(0)) call.reject(new Cancelled())
  }

  #stop() {
    this.#worker.terminate()
    this.#worker = null
    this.#giveUp(new Cancelled())
  }

  async #work() {
    this.#busy = true
    while (this.#waiting.length > 0) {
      try {
        await this.#start()
      } catch (e) {
        for (const call of this.#waiting.splice(0)) call.reject(e)
      }
      const call = this.#waiting.shift()
      if (!call) break
      this.#current = call
      this.#since = performance.now()
      await this.#ask({name: call.name, args: call.args}).then(call.resolve, call.reject)
      this.#current = null
    }
    this.#busy = false
  }

  async #start() {
    const module = await this.#module
    if (this.#worker) return
    this.#worker = new Worker('worker.js')
    await this.#ask(module)
  }

  #ask(message) {
    const worker = this.#worker
    return new Promise((resolve, reject) => {
      this.#giveUp = reject
      worker.onmessage = event => event.data.error === undefined ? resolve(event.data.value) : reject(new Error(event.data.error))
      worker.onerror = event => {
        if (this.#worker === worker) this.#worker = null
        worker.terminate()
        reject(new Error(event.message || 'The simulator could not be started.'))
      }
      worker.postMessage(message)
    })
  }
}
