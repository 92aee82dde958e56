import { textFrame, textFrameHead } from '../../stream/frames.ts'
import type { SubscriptionKind } from './subscription-request.ts'

/** Results up to this size are copied into each frame; larger ones are shared by all frames. Chosen: as a page of memory. */
const COPIED_BYTES_MAX = 4_096
/** Frames that are kept for further clients. Ids are small numbers that each connection counts, so that most are equal. */
const FRAMES_MAX = 64

/**
 * A notification for all clients of a subscription. The bytes of the result are those of the node; only the subscription id is
 * of the client.
 */
export class SharedNotification {
  readonly #head: string
  readonly #result: Buffer
  readonly #frames = new Map<number, readonly Buffer[]>()

  constructor(kind: SubscriptionKind, result: Buffer) {
    this.#head = `{"jsonrpc":"2.0","method":"${kind}Notification","params":{"result":`
    this.#result = result
  }

  /** Returns the WebSocket frame for a client's subscription, in one piece or several. */
  frame(id: number): readonly Buffer[] {
    const known = this.#frames.get(id)
    if (known !== undefined) return known
    const made = this.#make(`,"subscription":${id}}}`)
    if (this.#frames.size < FRAMES_MAX) this.#frames.set(id, made)
    return made
  }

  #make(tail: string): readonly Buffer[] {
    const length = this.#head.length + this.#result.length + tail.length
    if (this.#result.length <= COPIED_BYTES_MAX) {
      const { frame, at } = textFrame(length)
      const from = at + frame.write(this.#head, at, 'latin1')
      this.#result.copy(frame, from)
      frame.write(tail, from + this.#result.length, 'latin1')
      return [frame]
    }
    return [Buffer.concat([textFrameHead(length), Buffer.from(this.#head)]), this.#result, Buffer.from(tail)]
  }
}
