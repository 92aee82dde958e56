import type { Block } from './trades.ts'

/** What a server under load is told: to make blocks ready, or to commit the next of them. */
export type Order =
  { readonly kind: 'prepare'; readonly blocks: readonly Block[] } | { readonly kind: 'commit' }

/** A server that is started with it collects the garbage of making blocks at once, where telling of them is what is measured. */
export const TIDY = '--expose-gc'

/** Commits blocks when the parent process says so; they are made before, which is no part of telling of them. */
export function commitAsTold<Made>(make: (block: Block) => Made, commit: (made: Made) => void): void {
  let prepared: Made[] = []
  process.on('message', (text: string) => {
    const order = JSON.parse(text) as Order
    if (order.kind === 'commit') return commit(prepared.shift()!)
    prepared = order.blocks.map(make)
    globalThis.gc?.()
    process.send!('prepared')
  })
}
