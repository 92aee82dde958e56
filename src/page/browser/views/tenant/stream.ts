import { h, type JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { connect, type Channel, type Client } from '../../../../client/client.ts'
import { SERVICE_URL } from '../../api.ts'
import { Panel } from '../../elements.ts'
import { count } from '../../format.ts'
import { PatientSocket } from '../../patient-socket.ts'
import { apiKey } from '../../session.ts'

/** Frames that are shown; a busy channel sends a screenful a second. */
const FRAMES_MAX = 200
/** Milliseconds between two updates of the list of frames. */
const SHOW_MS = 150
const WSOL = 'So11111111111111111111111111111111111111112'

interface Frame {
  readonly number: number
  readonly direction: '←' | '→' | '·'
  readonly text: string
}

/** A console of the stream: the frames of the client's connection, which can be cut and resumed from a cursor. */
export function StreamSection(): JSX.Element {
  const [channels, setChannels] = useState(`launches trades:${WSOL}`)
  const [since, setSince] = useState('')
  const [frames, setFrames] = useState<readonly Frame[]>([])
  const [cursor, setCursor] = useState<number | null>(null)
  const [isOpen, setIsOpen] = useState(false)
  const [fault, setFault] = useState<string | null>(null)
  const session = useRef<ConsoleSession | null>(null)
  useEffect(() => () => session.current?.close(), [])

  const begin = (from: number | null): void => {
    session.current?.close()
    setFault(null)
    const names = channels.split(/[\s,]+/).filter((name) => name !== '')
    try {
      session.current = new ConsoleSession(names as Channel[], from, {
        onFrames: setFrames,
        onCursor: setCursor,
        onEnd: (reason) => {
          setIsOpen(false)
          setFault(reason)
        }
      })
      setIsOpen(true)
    } catch (error) {
      setFault((error as Error).message)
    }
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    const text = since.trim()
    begin(text === '' ? null : Number(text))
  }
  const close = (): void => {
    session.current?.close()
    setIsOpen(false)
  }
  const input = (set: (text: string) => void) => (event: Event) =>
    set((event.currentTarget as HTMLInputElement).value)
  return h(
    Panel,
    { title: 'Stream console', id: 'console-title' },
    h(
      'form',
      { class: 'fields', onSubmit: submit },
      h('label', { htmlFor: 'channels' }, 'Channels'),
      h('input', {
        id: 'channels',
        class: 'mono',
        value: channels,
        spellcheck: false,
        onInput: input(setChannels)
      }),
      h('label', { htmlFor: 'since' }, 'Since'),
      h('input', {
        id: 'since',
        class: 'mono',
        value: since,
        inputMode: 'numeric',
        placeholder: 'a cursor; empty for live events',
        onInput: input(setSince)
      }),
      h(
        'p',
        { class: 'buttons' },
        h('button', { type: 'submit', class: 'primary' }, 'Subscribe'),
        h(
          'button',
          { type: 'button', disabled: !isOpen, onClick: () => session.current?.cut() },
          'Cut the connection'
        ),
        h(
          'button',
          { type: 'button', disabled: cursor === null, onClick: () => begin(cursor) },
          `Resume from ${cursor ?? 'a cursor'}`
        ),
        h('button', { type: 'button', disabled: !isOpen, onClick: close }, 'Close')
      )
    ),
    fault === null ? null : h('p', { class: 'problem', role: 'status' }, fault),
    h(
      'p',
      { class: 'note', role: 'status' },
      `${isOpen ? 'Subscribed' : 'Not subscribed'}; ${count(frames.length)} of the newest frames`,
      cursor === null ? '' : `; processed up to cursor ${cursor}`
    ),
    h(
      'div',
      { class: 'frames', role: 'region', 'aria-label': 'Frames, newest first', tabIndex: 0 },
      frames.map(({ number, direction, text }) =>
        h(
          'details',
          { key: number },
          h('summary', null, `${direction} ${text.slice(0, 160)}`),
          h('pre', null, pretty(text))
        )
      )
    )
  )
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text) as unknown, null, 2)
  } catch {
    return text
  }
}

interface ConsoleUser {
  readonly onFrames: (frames: readonly Frame[]) => void
  readonly onCursor: (cursor: number | null) => void
  readonly onEnd: (reason: string | null) => void
}

/** A subscription of the client, whose frames are recorded as they pass its socket. */
class ConsoleSession {
  readonly #user: ConsoleUser
  readonly #client: Client
  #frames: readonly Frame[] = []
  #socket: WebSocket | null = null
  #number = 0
  #timer = 0

  constructor(channels: readonly Channel[], since: number | null, user: ConsoleUser) {
    this.#user = user
    const opened = (socket: WebSocket): void => {
      this.#socket = socket
      socket.addEventListener('message', ({ data }: MessageEvent<string>) => this.#add('←', data))
      socket.addEventListener('close', ({ code, reason }) => this.#add('·', `closed with ${code} ${reason}`))
    }
    const sent = (text: string): void => this.#add('→', text)
    class RecordedSocket extends PatientSocket {
      constructor(url: string) {
        super(url)
        opened(this)
      }

      override send(text: string): void {
        sent(text)
        super.send(text)
      }
    }
    this.#client = connect({
      url: SERVICE_URL.href,
      key: apiKey.value,
      WebSocket: RecordedSocket,
      onNotice: ({ kind, message }) => this.#add('·', `${kind}: ${message}`)
    })
    const subscription = this.#client.subscribe(channels, { since })
    const read = async (): Promise<void> => {
      for await (const item of subscription) {
        if (item.kind === 'gap') this.#add('·', `a gap after ${item.since}: ${item.reason}`)
        this.#user.onCursor(subscription.cursor)
      }
    }
    void read().then(
      () => undefined,
      (error: unknown) => this.#user.onEnd((error as Error).message)
    )
  }

  /** Closes the socket as a broken network does: the client reconnects and resumes. */
  cut(): void {
    this.#socket?.close()
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#client.close()
  }

  #add(direction: Frame['direction'], text: string): void {
    this.#frames = [{ number: ++this.#number, direction, text }, ...this.#frames].slice(0, FRAMES_MAX)
    if (this.#timer !== 0) return
    this.#timer = window.setTimeout(() => {
      this.#timer = 0
      this.#user.onFrames(this.#frames)
    }, SHOW_MS)
  }
}
