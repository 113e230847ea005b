// A scenario in the fragment of a link: its text, deflated, as base64url.

const mostText = 1 << 20 // bytes, as a scenario file
const mostLink = 1 << 19 // characters: browsers cut longer ones

// pack gives the fragment for a text, without the #.
export async function pack(text) {
  const packed = await through(new Blob([text]), new CompressionStream('deflate-raw'), Infinity)
  let binary = ''
  for (let i = 0; i < packed.length; i += 4096) binary += String.fromCharCode(...packed.subarray(i, i + 4096))
  const fragment = 's=' + btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
  if (fragment.length > mostLink) throw new Error('The scenario is too long for a link; download it instead.')
  return fragment
}

// unpack gives the text of such a fragment, and fails if it is none.
export async function unpack(fragment) {
  const code = fragment.startsWith('s=') ? fragment.slice(2) : ''
  if (code === '' || fragment.length > mostLink || !/^[\w-]+$/.test(code)) throw new Error('The link holds no scenario.')
  try {
    const binary = atob(code.replaceAll('-', '+').replaceAll('_', '/'))
    const packed = Uint8Array.from(binary, c => c.charCodeAt(0))
    const bytes = await through(new Blob([packed]), new DecompressionStream('deflate-raw'), mostText)
    return new TextDecoder('utf-8', {fatal: true}).decode(bytes)
  } catch {
    throw new Error('The scenario in the link cannot be read: a part of it is missing.')
  }
}

// through is all that comes out of a stream, which must not be more than most bytes.
async function through(blob, stream, most) {
  const parts = []
  let length = 0
  const reader = blob.stream().pipeThrough(stream).getReader()
  for (;;) {
    const {done, value} = await reader.read()
    if (done) break
    length += value.length
    if (length > most) {
      await reader.cancel()
      throw new Error('too much')
    }
    parts.push(value)
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer())
}
