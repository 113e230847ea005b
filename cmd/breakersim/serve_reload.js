'use strict'
// A page that breakersim serves: it is loaded again when there is a new one, and
// tells what is wrong with the scenario as it was saved.
{
  let version, events
  const trouble = document.createElement('pre')
  trouble.setAttribute('role', 'alert')
  Object.assign(trouble.style, {position: 'fixed', inset: 'auto 0 0 0', margin: 0, maxHeight: '50vh', overflow: 'auto', whiteSpace: 'pre-wrap', background: '#7a1a0a', color: '#fff', zIndex: 9, padding: '1rem', borderRadius: 0})

  // listen is for pages that are seen: a browser has few connections to one server.
  const listen = () => {
    events?.close()
    if (document.hidden) return
    events = new EventSource('/-/events')
    events.onmessage = e => {
      const news = JSON.parse(e.data)
      version ??= news.version
      if (news.version !== version) return location.reload()
      trouble.textContent = news.trouble
      if (news.trouble) document.body.append(trouble)
      else trouble.remove()
    }
  }
  document.addEventListener('visibilitychange', listen)
  listen()
}
