import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs, type Block } from './trades.ts'

/** What a server under load is told: to make blocks ready, to commit the next of them, or to tell when it did. */
export type Order =
  | { readonly kind: 'prepare'; readonly blocks: readonly Block[] }
  | { readonly kind: 'commit' }
  /** Asks when blocks were committed since this was asked before. */
  | { readonly kind: 'times' }

/** A server that is started with it collects the garbage of making blocks at once, where telling of them is what is measured. */
export const TIDY = '--expose-gc'
/** In which the collector's threads end what they were told: they count as the server's time. */
const TIDYING_MS = 100

/** Commits blocks when the parent process says so; they are made before, which is no part of telling of them. */
export function commitAsTold<Made>(make: (block: Block) => Made, commit: (made: Made) => void): void {
  const commits = new Commits(commit)
  process.on('message', (text: string) => {
    const order = JSON.parse(text) as Order
    switch (order.kind) {
      case 'commit':
        return commits.next()
      case 'prepare':
        commits.prepared = order.blocks.map(make)
        return void tidied().then(() => process.send!([]))
      case 'times':
        process.send!(commits.takeTimes())
    }
  })
}

/** Blocks that are ready, and when those before them were committed. */
export class Commits<Made> {
  prepared: Made[] = []
  readonly #commit: (made: Made) => void
  #times: number[] = []

  constructor(commit: (made: Made) => void) {
    this.#commit = commit
  }

  next(): void {
    this.#times.push(monotonicMs())
    this.#commit(this.prepared.shift()!)
  }

  /** When it committed since this was asked before, by `monotonicMs`. */
  takeTimes(): readonly number[] {
    const times = this.#times
    this.#times = []
    return times
  }
}

async function tidied(): Promise<void> {
  if (globalThis.gc === undefined) return
  globalThis.gc()
  await sleep(TIDYING_MS)
}
