import type { Client } from './stream-client.ts'
import type { Subscription } from './subscription.ts'

/** Changes of one submission since they were last awaited. */
export interface ChangeWatch {
  /** Whether a change has come since the last `clear`. */
  readonly isChanged: boolean
  clear(): void
  /** Calls a function at the next change, or when the changes can no longer be read. */
  onChange(run: (() => void) | null): void
  end(): void
}

interface Watcher {
  isChanged: boolean
  run: (() => void) | null
}

/**
 * Changes of the tenant's submissions, from one subscription for all watchers. It is open while there is a watcher.
 *
 * C1. A change, a gap and the end of the subscription wake the watchers, which then read the status: the stream is a hint,
 *     REST is the truth.
 */
export class SubmissionChanges {
  readonly #openStream: () => Pick<Client, 'subscribe'>
  readonly #watchers = new Map<string, Set<Watcher>>()
  #subscription: Subscription<'tx'> | null = null
  #isReadable = true

  /** Takes a function that returns the client of the stream, and throws where there is no WebSocket. */
  constructor(openStream: () => Pick<Client, 'subscribe'>) {
    this.#openStream = openStream
  }

  /** Whether changes arrive: not without a WebSocket, nor if the key may not read them. */
  get isReadable(): boolean {
    return this.#isReadable
  }

  watch(signature: string): ChangeWatch {
    const watcher: Watcher = { isChanged: false, run: null }
    const watchers = this.#watchers.get(signature) ?? new Set()
    this.#watchers.set(signature, watchers.add(watcher))
    this.#open()
    return {
      get isChanged() {
        return watcher.isChanged
      },
      clear: () => void (watcher.isChanged = false),
      onChange: (run) => void (watcher.run = run),
      end: () => {
        watchers.delete(watcher)
        if (watchers.size === 0) this.#watchers.delete(signature)
        if (this.#watchers.size === 0) this.#close()
      }
    }
  }

  #open(): void {
    if (this.#subscription !== null || !this.#isReadable) return
    try {
      this.#subscription = this.#openStream().subscribe(['tx'])
    } catch {
      this.#isReadable = false
      return
    }
    void this.#read(this.#subscription)
  }

  #close(): void {
    this.#subscription?.close()
    this.#subscription = null
  }

  async #read(subscription: Subscription<'tx'>): Promise<void> {
    try {
      for await (const item of subscription)
        if (item.kind === 'transaction') this.#wake(item.data.signature)
        else this.#wakeAll()
    } catch {
      // The key lacks a scope of the channel, or is no longer valid; reads of the status report the latter.
      this.#isReadable = false
      this.#subscription = null
      this.#wakeAll()
    }
  }

  #wakeAll(): void {
    for (const signature of this.#watchers.keys()) this.#wake(signature)
  }

  #wake(signature: string): void {
    for (const watcher of this.#watchers.get(signature) ?? []) {
      watcher.isChanged = true
      watcher.run?.()
    }
  }
}
