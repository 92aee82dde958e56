import type { Clock } from '../../src/ports.ts'
import type { HintChannel } from '../../storage/cluster/coordination.ts'
import { isOutage } from '../storage/retry.ts'
import { AutoResetEvent } from '../supervision/auto-reset-event.ts'

/**
 * Intervals of listing all shards, in milliseconds.
 *
 * On a shared store without hints of changes it is `polled`: new documents are adopted within 15 s, and submissions while their
 * blockhash lives. With hints it is `hinted`: a list then only finds changes of a process that died before it gave its hint, and
 * costs a process without webhooks more than all blocks of its time. A store of one process announces every change; there a list,
 * at `unshared`, finds only changes missed because of a fault.
 */
const LIST_MS = { polled: 1_000, hinted: 10_000, unshared: 30_000 }

export interface ShardListsDeps {
  /** Tells whether hints of other processes' changes arrive. */
  readonly hints: Pick<HintChannel<unknown>, 'available'> | null
  readonly isShared: boolean
  readonly clock: Clock
  /** Returns the names of the shards that this process has. */
  readonly shards: () => Iterable<string>
  /** Lists the documents of a shard, if this process has it. Rejects with the store's error. */
  readonly sync: (shard: string) => Promise<void>
}

/**
 * Finds changes of the documents of a process's shards: each shard is listed when a hint names it, and all are from time to
 * time. A list that fails is repeated after `LIST_MS.polled`.
 */
export class ShardLists {
  readonly #deps: ShardListsDeps
  readonly #due = new Set<string>()
  readonly #wake = new AutoResetEvent()

  constructor(deps: ShardListsDeps) {
    this.#deps = deps
  }

  /** Lists shards at the next opportunity. */
  hint(shards: Iterable<string>): void {
    for (const shard of shards) this.#due.add(shard)
    this.#wake.set()
  }

  /** Lists shards until `end` aborts. Rejects with an error of a list other than an outage of the store. */
  async run(end: AbortSignal): Promise<void> {
    const { clock, shards } = this.#deps
    let listedMs = -Infinity
    const failed = new Set<string>()
    while (!end.aborted) {
      const isTurn = clock.now() >= listedMs + this.#intervalMs
      const names = isTurn ? [...shards()] : [...this.#due]
      this.#due.clear()
      for (const name of names) {
        if (end.aborted) return
        if (await this.#list(name)) failed.delete(name)
        else failed.add(name)
      }
      const endedMs = clock.now()
      if (isTurn) listedMs = endedMs
      if (this.#due.size > 0) continue
      const restMs = listedMs + this.#intervalMs - endedMs
      const pauseMs = failed.size === 0 ? restMs : Math.min(restMs, LIST_MS.polled)
      await this.#wake.wait(clock, Math.max(0, pauseMs), end)
      for (const name of failed) this.#due.add(name)
    }
  }

  /** The pause after a list. It is shorter from the moment when hints cease to arrive, which wakes the loop. */
  get #intervalMs(): number {
    const { isShared, hints } = this.#deps
    if (!isShared) return LIST_MS.unshared
    return hints?.available === true ? LIST_MS.hinted : LIST_MS.polled
  }

  /** Lists a shard. Returns whether the store has answered. */
  async #list(name: string): Promise<boolean> {
    try {
      await this.#deps.sync(name)
      return true
    } catch (error) {
      if (!isOutage(error)) throw error
      return false
    }
  }
}
