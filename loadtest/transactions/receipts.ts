import type { MeasuredProcess } from '../measured-process.ts'
import type { NodeOrder, Receipts } from './node-process.ts'

/** Minimum interval of two receipts of one signature, in milliseconds; below it a send was duplicated. Half of a period. */
const TWICE_MS = 1_000

export const askNode = (node: MeasuredProcess, order: NodeOrder): Promise<unknown> => node.ask(order)

/** Returns the sends that the node has received, by transaction. */
export async function receiptsOf(node: MeasuredProcess): Promise<ReadonlyMap<string, readonly number[]>> {
  return new Map((await askNode(node, 'receipts')) as Receipts)
}

/**
 * Counts transactions that the node has never received, and receipts that follow an earlier one of their transaction
 * at once.
 */
export function lostAndTwice(receipts: ReadonlyMap<string, readonly number[]>, keys: readonly string[]) {
  let [lost, twice] = [0, 0]
  for (const key of keys) {
    const times = receipts.get(key) ?? []
    if (times.length === 0) lost++
    for (const [at, ms] of times.entries()) if (at > 0 && ms - times[at - 1]! < TWICE_MS) twice++
  }
  return { transactions: keys.length, lost, twice_at_once: twice }
}
