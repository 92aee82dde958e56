import type { BlockDigests } from '../cluster/coordination.ts'
import type { RedisConnection } from './connection.ts'

/** TTL of a digest, in seconds. A chain that stands still for hours is known; a service that is gone leaves nothing. */
const TTL_SECONDS = 86_400

/** Digests of the last blocks in Redis, one for each slot modulo a number, so that their number is bounded. */
export class RedisBlockDigests implements BlockDigests {
  readonly #connection: RedisConnection
  readonly #slots: number

  /** Keeps the digests of the last `slots` slots. */
  constructor(connection: RedisConnection, slots: number) {
    this.#connection = connection
    this.#slots = slots
  }

  async put(slot: number, digest: Uint8Array): Promise<void> {
    await this.#connection.put(this.#keyOf(slot), digest, TTL_SECONDS)
  }

  read(slots: readonly number[]): Promise<(Uint8Array | null)[]> {
    return this.#connection.readAll(slots.map((slot) => this.#keyOf(slot)))
  }

  onChange(listener: (available: boolean) => void): () => void {
    return this.#connection.onChange(listener)
  }

  #keyOf(slot: number): string {
    return this.#connection.key('fees', String(slot % this.#slots))
  }
}
