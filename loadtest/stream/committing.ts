import { monotonicMs, type Block } from './trades.ts'

/** What a server under load is told: to make blocks ready, to commit the next of them, or to tell when it did. */
export type Order =
  | { readonly kind: 'prepare'; readonly blocks: readonly Block[] }
  | { readonly kind: 'commit' }
  /** Asks when blocks were committed since this was asked before. */
  | { readonly kind: 'times' }

/** A server that is started with it collects the garbage of making blocks at once, where telling of them is what is measured. */
export const TIDY = '--expose-gc'

/** Commits blocks when the parent process says so; they are made before, which is no part of telling of them. */
export function commitAsTold<Made>(make: (block: Block) => Made, commit: (made: Made) => void): void {
  let prepared: Made[] = []
  let times: number[] = []
  process.on('message', (text: string) => {
    const order = JSON.parse(text) as Order
    switch (order.kind) {
      case 'commit':
        times.push(monotonicMs())
        return commit(prepared.shift()!)
      case 'prepare':
        prepared = order.blocks.map(make)
        globalThis.gc?.()
        return void process.send!([])
      case 'times':
        process.send!(times)
        times = []
    }
  })
}
