import type { Clock } from '../ports.ts'
import { SOCKETS_PER_KEY_MAX } from './key-sockets.ts'

/** Interval at which a process restores its counts, in milliseconds: a quarter of the time for which they are stored. */
const RESTORE_MS = 21_600_000

/** Counts of sockets that several processes share. Each call rejects while the counter is unavailable. */
export interface SharedSocketCounts {
  readonly available: boolean
  onChange(listener: (available: boolean) => void): () => void
  take(keyId: string, max: number): Promise<boolean>
  release(keyId: string): Promise<void>
  restore(counts: ReadonlyMap<string, number>): Promise<void>
}

export interface SharedSocketsOptions {
  readonly clock: Clock
  /** Null if the processes share no counter. */
  readonly counts: SharedSocketCounts | null
  /** Number of processes that share the places while no counter answers. */
  readonly gateways: () => number
}

/**
 * The places of a key's sockets over all processes of a service. While the shared counter does not answer, each process has
 * an equal share of the places, at least one.
 */
export class SharedSockets {
  readonly #options: SharedSocketsOptions
  /** Sockets of this process, by key. */
  readonly #own = new Map<string, number>()
  readonly #unfollow: () => void
  #timer: unknown

  constructor(options: SharedSocketsOptions) {
    this.#options = options
    // A server that was unreachable may have lost the counts, and lacks the sockets that were opened since.
    this.#unfollow =
      options.counts?.onChange((available) => available && this.#restore()) ?? (() => undefined)
    this.#restoreLater()
  }

  /** Takes a place for a socket of a key; false if all are taken. Never rejects. */
  async take(keyId: string): Promise<boolean> {
    const isTaken = await this.#takeShared(keyId)
    if (!isTaken) return false
    this.#own.set(keyId, (this.#own.get(keyId) ?? 0) + 1)
    return true
  }

  /** Returns the place of a socket that has closed. */
  release(keyId: string): void {
    const left = (this.#own.get(keyId) ?? 0) - 1
    if (left > 0) this.#own.set(keyId, left)
    else this.#own.delete(keyId)
    // A lost release is repaired when the counts are restored.
    this.#options.counts?.release(keyId).catch(() => undefined)
  }

  close(): void {
    this.#unfollow()
    this.#options.clock.clearTimeout(this.#timer)
  }

  async #takeShared(keyId: string): Promise<boolean> {
    const { counts, gateways } = this.#options
    if (counts?.available === true) {
      try {
        return await counts.take(keyId, SOCKETS_PER_KEY_MAX)
      } catch {
        // The connection reports what is wrong with the server.
      }
    }
    const share = Math.max(1, Math.floor(SOCKETS_PER_KEY_MAX / gateways()))
    return (this.#own.get(keyId) ?? 0) < share
  }

  #restore(): void {
    this.#options.counts?.restore(new Map(this.#own)).catch(() => undefined)
  }

  #restoreLater(): void {
    this.#timer = this.#options.clock.setTimeout(() => {
      this.#restore()
      this.#restoreLater()
    }, RESTORE_MS)
  }
}
