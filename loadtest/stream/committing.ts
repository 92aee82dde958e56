import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs, type Block } from './trades.ts'

/** A message to a server under load: build blocks, commit the next one, or report the commit times. */
export type Order =
  | { readonly kind: 'prepare'; readonly blocks: readonly Block[] }
  | { readonly kind: 'commit' }
  /** Asks for the times of the commits since the last such message. */
  | { readonly kind: 'times' }

/** Node option for servers whose publishing is measured: they collect the garbage of building blocks immediately. */
export const TIDY = '--expose-gc'
/** Milliseconds for the collector's threads to finish, which would count as the server's time. */
const TIDYING_MS = 100

/** Commits blocks on request of the parent process. Blocks are built in advance, so that building is not measured. */
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

/** Built blocks, and the times at which earlier ones were committed. */
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

  /** Returns the times of the commits since the last call, by `monotonicMs`. */
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
