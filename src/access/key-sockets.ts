import type { Caller } from './caller.ts'

/**
 * Maximum WebSockets of a key, on the stream and the RPC URL together (src/docs/operations.md), and of the process.
 * The limit of the process: 10,000 idle connections take 250 MB.
 */
export const SOCKETS_PER_KEY_MAX = 20
export const SOCKETS_MAX = 50_000

/** Counts the WebSockets of a process by key. */
export class KeySockets {
  readonly #perKey = new Map<string, number>()
  #size = 0

  /** Tells whether a key may open a further WebSocket. */
  admits({ keyId }: Pick<Caller, 'keyId'>): boolean {
    return this.#size < SOCKETS_MAX && this.of(keyId) < SOCKETS_PER_KEY_MAX
  }

  /** Returns the number of open WebSockets of a key. */
  of(keyId: string): number {
    return this.#perKey.get(keyId) ?? 0
  }

  add({ keyId }: Pick<Caller, 'keyId'>): void {
    this.#perKey.set(keyId, (this.#perKey.get(keyId) ?? 0) + 1)
    this.#size++
  }

  remove({ keyId }: Pick<Caller, 'keyId'>): void {
    const left = this.#perKey.get(keyId)! - 1
    if (left === 0) this.#perKey.delete(keyId)
    else this.#perKey.set(keyId, left)
    this.#size--
  }
}
