import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { monotonicMs } from './trades.ts'

/** Content of the frames: one message each, or the text protocol of NATS. */
export type Protocol = 'messages' | 'nats'

/** Receives an event: its cursor and the time at which it arrived. */
export type Take = (receiver: Receiver, cursor: number, nowMs: number) => void

const PING = 9
const PONG = 10
const CLOSE = 8
const EMPTY = Buffer.alloc(0)
const [COLON, NEWLINE, SPACE, ZERO] = [0x3a, 0x0a, 0x20, 0x30]

const REPLAY_TAIL = ',"replay":true}'
const LAST_OF_TRUE = 0x65

/** One client: a socket and the parser of its bytes. */
export class Receiver {
  readonly channel: number
  socket!: Socket
  /** Events received in the current run. */
  events = 0
  bytes = 0
  readonly #protocol: Protocol
  readonly #take: Take
  readonly #fault: (text: string) => void
  #rest: Buffer = EMPTY
  #natsRest: Buffer = EMPTY
  #answered: (() => void) | null = null
  #nowMs = 0

  constructor(protocol: Protocol, channel: number, take: Take, fault: (text: string) => void) {
    this.#protocol = protocol
    this.channel = channel
    this.#take = take
    this.#fault = fault
  }

  async connect(url: string, path: string): Promise<void> {
    const { hostname, port, host } = new URL(url)
    this.socket = connect(Number(port), hostname)
    this.socket.setNoDelay(true)
    await once(this.socket, 'connect')
    const key = randomBytes(16).toString('base64')
    this.socket.write(
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`
    )
    const [data] = (await once(this.socket, 'data')) as [Buffer]
    const end = data.indexOf('\r\n\r\n')
    if (end < 0 || !data.toString('latin1').startsWith('HTTP/1.1 101')) throw new Error(data.toString())
    this.socket.on('data', (chunk: Buffer) => this.#read(chunk))
    this.socket.on('error', (error) => this.#fault(error.message))
    this.socket.on('close', () => this.#fault('a socket was closed'))
    if (end + 4 < data.length) this.#read(data.subarray(end + 4))
  }

  /** Subscribes to a channel and resolves when the server confirms it. */
  subscribe(name: string, since: number | null): Promise<void> {
    const answered = new Promise<void>((resolve) => (this.#answered = resolve))
    if (this.#protocol === 'nats') this.#send(`CONNECT {"verbose":false}\r\nSUB ${name} 1\r\nPING\r\n`)
    else this.#send(JSON.stringify({ subscribe: [name], ...(since === null ? {} : { since }) }))
    return answered
  }

  #send(text: string, opcode = 1): void {
    const payload = Buffer.from(text)
    const header =
      payload.length <= 125
        ? [0x80 | opcode, 0x80 | payload.length]
        : [0x80 | opcode, 0x80 | 126, payload.length >> 8, payload.length & 255]
    // A mask of zeros leaves the payload unchanged.
    this.socket.write(Buffer.concat([Buffer.from(header), Buffer.alloc(4), payload]))
  }

  #read(chunk: Buffer): void {
    this.#nowMs = monotonicMs()
    this.bytes += chunk.length
    const data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let at = 0
    while (at + 2 <= data.length) {
      let length = data[at + 1]! & 127
      let start = at + 2
      if (length === 126) {
        if (at + 4 > data.length) break
        length = data.readUInt16BE(at + 2)
        start = at + 4
      } else if (length === 127) {
        if (at + 10 > data.length) break
        length = data.readUInt32BE(at + 6)
        start = at + 10
      }
      if (start + length > data.length) break
      this.#frame(data[at]! & 15, data, start, start + length)
      at = start + length
    }
    this.#rest = at === data.length ? EMPTY : data.subarray(at)
  }

  #frame(opcode: number, data: Buffer, start: number, end: number): void {
    if (opcode === PING) this.#send('', PONG)
    else if (opcode === CLOSE) this.#fault(`closed with ${data.readUInt16BE(start)}`)
    else if (this.#protocol === 'messages') this.#message(data, start, end)
    else this.#nats(data.subarray(start, end))
  }

  /** Handles a message by its type, read at a fixed offset: `{"type":"event"` or another type. */
  #message(data: Buffer, start: number, end: number): void {
    if (data[start + 9] === 0x65 && data[start + 10] === 0x76) return this.#event(data, end)
    const text = data.toString('utf8', start, end)
    const { type } = JSON.parse(text) as { type: string }
    if (type === 'subscribed') this.#answered?.()
    else if (type !== 'hello' && type !== 'replay_complete') this.#fault(text)
  }

  #nats(bytes: Buffer): void {
    const data = this.#natsRest.length === 0 ? bytes : Buffer.concat([this.#natsRest, bytes])
    let at = 0
    for (;;) {
      const lineEnd = data.indexOf(NEWLINE, at)
      if (lineEnd < 0) break
      if (data[at] === 0x4d) {
        // MSG <subject> <sid> <bytes>
        let size = 0
        for (let i = data.lastIndexOf(SPACE, lineEnd) + 1; i < lineEnd - 1; i++)
          size = size * 10 + data[i]! - ZERO
        const end = lineEnd + 1 + size
        if (end + 2 > data.length) break
        this.#event(data, end)
        at = end + 2
        continue
      }
      const line = data.toString('latin1', at, lineEnd - 1)
      if (line === 'PONG') this.#answered?.()
      else if (line === 'PING') this.#send('PONG\r\n')
      else if (!line.startsWith('INFO')) this.#fault(line)
      at = lineEnd + 1
    }
    this.#natsRest = at === data.length ? EMPTY : data.subarray(at)
  }

  /** Reads the cursor, the last field of an event. */
  #event(data: Buffer, end: number): void {
    let at = data[end - 2] === LAST_OF_TRUE ? end - REPLAY_TAIL.length - 1 : end - 2
    let cursor = 0
    for (let unit = 1; data[at] !== COLON; at--, unit *= 10) cursor += (data[at]! - ZERO) * unit
    this.#take(this, cursor, this.#nowMs)
  }
}
