import { textFrame, textFrameHead } from '../../stream/frames.ts'
import { clientFrame, COPIED_BYTES_MAX, type ClientFrame } from './client-frame.ts'
import type { SubscriptionKind } from './subscription-request.ts'

/** Frames cached for further clients. Each connection counts its ids from a small number, so most ids are equal. */
const FRAMES_MAX = 64

/**
 * A notification for all clients of a subscription. The result's bytes come from the node; only the subscription id
 * differs by client.
 */
export class SharedNotification {
  readonly #head: string
  readonly #result: Buffer
  readonly #frames = new Map<number, ClientFrame>()
  #lastId = -1
  #last: ClientFrame | null = null

  constructor(kind: SubscriptionKind, result: Buffer) {
    this.#head = `{"jsonrpc":"2.0","method":"${kind}Notification","params":{"result":`
    this.#result = result
  }

  /** Returns the frame for a client's subscription. Frames of a large result share its bytes. */
  frame(id: number): ClientFrame {
    if (id === this.#lastId) return this.#last!
    let frame = this.#frames.get(id)
    if (frame === undefined) {
      frame = this.#make(`,"subscription":${id}}}`)
      if (this.#frames.size < FRAMES_MAX) this.#frames.set(id, frame)
    }
    this.#lastId = id
    this.#last = frame
    return frame
  }

  #make(tail: string): ClientFrame {
    const length = this.#head.length + this.#result.length + tail.length
    if (this.#result.length <= COPIED_BYTES_MAX) {
      const { frame, at } = textFrame(length)
      const from = at + frame.write(this.#head, at, 'latin1')
      this.#result.copy(frame, from)
      frame.write(tail, from + this.#result.length, 'latin1')
      return clientFrame([frame], true)
    }
    const head = Buffer.concat([textFrameHead(length), Buffer.from(this.#head)])
    return clientFrame([head, this.#result, Buffer.from(tail)], true)
  }
}
