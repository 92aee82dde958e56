/** Messages stored and shown; older ones are removed. Two screenfuls; more would slow down the page. */
const SHOWN_MAX = 100
/** Update interval of the page, in milliseconds: a replay sends more messages than a page can draw one by one. */
const SHOW_EVERY_MS = 100

/** A connection to the stream and its messages, newest first. `view` is replaced at each change. */
export class StreamLog {
  view = { state: 'closed', received: 0, lines: [] }
  #socket = null
  #listeners = new Set()
  #number = 0
  #timer = null

  subscribe = (listener) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Sends a message, on a new connection if none is open. */
  send(message, key) {
    const text = JSON.stringify(message)
    if (this.#socket === null) this.#connect(key)
    const socket = this.#socket
    const put = () => {
      socket.send(text)
      this.#add('sent', message)
    }
    if (socket.readyState === WebSocket.OPEN) put()
    else socket.addEventListener('open', put, { once: true })
  }

  close() {
    this.#socket?.close()
  }

  clear() {
    this.#change({ lines: [], received: 0 })
  }

  #connect(key) {
    const url = new URL('/v1/stream', location.href)
    url.protocol = url.protocol.replace('http', 'ws')
    url.searchParams.set('key', key)
    const socket = new WebSocket(url)
    this.#socket = socket
    this.#change({ state: 'connecting' })
    let wasOpen = false
    socket.addEventListener('open', () => {
      wasOpen = true
      this.#change({ state: 'open' })
    })
    socket.addEventListener('message', ({ data }) => this.#add('received', JSON.parse(data)))
    socket.addEventListener('close', ({ code, reason }) => {
      this.#socket = null
      this.#change({ state: 'closed' })
      if (wasOpen) this.#add('note', { closed: code, reason })
      else void this.#explainRefusal(key)
    })
  }

  /** A browser hides why a handshake was refused; an equal request without an upgrade returns the reason. */
  async #explainRefusal(key) {
    const response = await fetch('/v1/stream', { headers: { 'X-API-Key': key } }).catch(() => null)
    const problem = response === null ? {} : await response.json()
    const detail = response?.status === 403 ? problem.detail : 'the connection failed'
    this.#add('note', { refused: detail })
  }

  #add(direction, message) {
    const { lines, received } = this.view
    const line = { number: ++this.#number, direction, message }
    this.view = {
      ...this.view,
      received: received + (direction === 'received' ? 1 : 0),
      lines: [line, ...lines].slice(0, SHOWN_MAX)
    }
    this.#timer ??= setTimeout(() => this.#tell(), SHOW_EVERY_MS)
  }

  #change(changes) {
    this.view = { ...this.view, ...changes }
    this.#tell()
  }

  #tell() {
    clearTimeout(this.#timer)
    this.#timer = null
    for (const listener of this.#listeners) listener()
  }
}
