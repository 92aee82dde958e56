import type { Pipe } from '../../actors/stream/pipe.ts'

/** A message as a client parses it. */
export interface Message {
  readonly [member: string]: unknown
  readonly type: string
  readonly code?: string
  readonly channel?: string
  readonly channels?: readonly string[]
  readonly cursor?: number
  readonly replay?: boolean
}

/** Returns the texts of whole WebSocket frames. */
export function textsOf(bytes: Buffer): string[] {
  const texts: string[] = []
  for (let at = 0; at < bytes.length;) {
    if (bytes[at] !== 0x81) throw new Error(`a frame begins with ${bytes[at]}`)
    let length = bytes[at + 1]!
    at += 2
    if (length === 126) {
      length = bytes.readUInt16BE(at)
      at += 2
    } else if (length === 127) {
      length = Number(bytes.readBigUInt64BE(at))
      at += 8
    }
    texts.push(bytes.toString('utf8', at, at + length))
    at += length
  }
  return texts
}

/** A socket whose peer reads when the test says so. */
export class FakePipe implements Pipe {
  readonly messages: Message[] = []
  readonly writes: number[] = []
  closedWith: number | null = null
  isReading = true
  pings = 0
  readonly #room: number
  #unread: Buffer[] = []

  /** `room` is the number of bytes that it accepts unread before it reports backpressure. */
  constructor(room = 0) {
    this.#room = room
  }

  get isSent(): boolean {
    return this.#unread.length === 0
  }

  write(frames: readonly Buffer[]): boolean {
    this.writes.push(frames.length)
    if (this.closedWith !== null) return true
    if (this.isReading) this.#read(frames)
    else this.#unread.push(...frames)
    return this.#unread.reduce((sum, { length }) => sum + length, 0) <= this.#room
  }

  /** Reads everything received. The test must then notify the connection that its socket has drained. */
  read(): void {
    this.#read(this.#unread)
    this.#unread = []
  }

  close(code: number): void {
    this.closedWith = code
  }

  ping(): void {
    this.pings++
  }

  terminate(): void {
    this.closedWith = 1006
  }

  #read(frames: readonly Buffer[]): void {
    // A frame may be in several pieces.
    for (const text of textsOf(Buffer.concat(frames))) this.messages.push(JSON.parse(text) as Message)
  }
}
