/** Messages stored and shown; older ones are removed. Two screenfuls; more would slow down the page. */
const SHOWN_MAX = 100
/** Update interval of the page, in milliseconds: a replay sends more messages than a page can draw one by one. */
const SHOW_EVERY_MS = 100

export type Message = Readonly<Record<string, unknown>>

export interface LogLine {
  readonly number: number
  readonly direction: 'sent' | 'received' | 'note'
  readonly message: Message
}

export interface LogView {
  readonly state: 'closed' | 'connecting' | 'open'
  readonly received: number
  readonly lines: readonly LogLine[]
}

/** A connection to the stream and its messages, newest first. `view` is replaced at each change. */
export class StreamLog {
  view: LogView = { state: 'closed', received: 0, lines: [] }
  #socket: WebSocket | null = null
  readonly #listeners = new Set<() => void>()
  #number = 0
  #timer: number | null = null

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Sends a message, on a new connection if none is open. */
  send(message: Message, key: string): void {
    const text = JSON.stringify(message)
    const socket = this.#socket ?? this.#connect(key)
    const put = (): void => {
      socket.send(text)
      this.#add('sent', message)
    }
    if (socket.readyState === WebSocket.OPEN) put()
    else socket.addEventListener('open', put, { once: true })
  }

  close(): void {
    this.#socket?.close()
  }

  clear(): void {
    this.#change({ lines: [], received: 0 })
  }

  #connect(key: string): WebSocket {
    const url = new URL('v1/stream', location.href)
    url.protocol = url.protocol.replace('http', 'ws')
    url.hash = ''
    url.searchParams.set('key', key)
    const socket = new WebSocket(url)
    this.#socket = socket
    this.#change({ state: 'connecting' })
    let wasOpen = false
    socket.addEventListener('open', () => {
      wasOpen = true
      this.#change({ state: 'open' })
    })
    socket.addEventListener('message', ({ data }: MessageEvent<string>) =>
      this.#add('received', JSON.parse(data) as Message)
    )
    socket.addEventListener('close', ({ code, reason }) => {
      this.#socket = null
      this.#change({ state: 'closed' })
      if (wasOpen) this.#add('note', { closed: code, reason })
      else void this.#explainRefusal(key)
    })
    return socket
  }

  /** A browser hides why a handshake was refused; an equal request without an upgrade returns the reason. */
  async #explainRefusal(key: string): Promise<void> {
    const response = await fetch('v1/stream', { headers: { 'X-API-Key': key } }).catch(() => null)
    const problem = response === null ? {} : ((await response.json()) as Message)
    const detail = response?.status === 403 ? problem['detail'] : 'the connection failed'
    this.#add('note', { refused: detail })
  }

  #add(direction: LogLine['direction'], message: Message): void {
    const { lines, received } = this.view
    const line = { number: ++this.#number, direction, message }
    this.view = {
      ...this.view,
      received: received + (direction === 'received' ? 1 : 0),
      lines: [line, ...lines].slice(0, SHOWN_MAX)
    }
    this.#timer ??= window.setTimeout(() => this.#publish(), SHOW_EVERY_MS)
  }

  #change(changes: Partial<LogView>): void {
    this.view = { ...this.view, ...changes }
    this.#publish()
  }

  #publish(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    for (const listener of this.#listeners) listener()
  }
}
