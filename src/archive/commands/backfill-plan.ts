import type { SlotRow } from '../../market/rows.ts'
import type { RpcNode } from '../../node/rpc-node.ts'
import type { FactStore, Storage } from '../../../storage/port.ts'
import { storedSlots } from '../facts/stored-slots.ts'
import { missingSpans, type SlotSpan } from '../missing-spans.ts'

const PROBE_TIMEOUT_MS = 10_000

/** The slots of a range, by what a backfill does with them. */
export interface BackfillPlan {
  /** Slots that are read from the node, ascending. */
  readonly due: readonly SlotSpan[]
  /** Slots at or after the first live one, which the service indexes itself; null if the range ends before. */
  readonly live: SlotSpan | null
}

/**
 * Divides a range of slots. Blocks that an interrupted run has stored and not folded count as stored. `firstLive` is the first
 * indexed slot, null if nothing is indexed. Rejects with the store's error.
 */
export async function backfillPlan(
  { from, to }: SlotSpan,
  facts: Pick<FactStore, 'from'>,
  firstLive: number | null
): Promise<BackfillPlan> {
  const end = Math.min(to, (firstLive ?? Infinity) - 1)
  return {
    due: from > end ? [] : await missingSpans(storedSlots(facts, from), { from, to: end }),
    live: to > end ? { from: Math.max(from, end + 1), to } : null
  }
}

/** Describes a span of slots. */
export const spanText = ({ from, to }: SlotSpan): string =>
  from === to ? `slot ${from}` : `slots ${from} to ${to}`

/** A store whose chain is compared. */
interface ComparedStore {
  readonly blocks: Pick<Storage['blocks'], 'head' | 'at' | 'firstSince'>
  readonly coverage: Pick<Storage['coverage'], 'genesis'>
}

/**
 * Says why nodes are of another chain than a store; null if they agree, as far as both know. `genesis` is that of the nodes.
 * Rejects with the error of the store or the node.
 */
export async function foreignChain(
  { store, name }: { readonly store: ComparedStore; readonly name: string },
  [node]: readonly RpcNode[],
  genesis: string,
  signal: AbortSignal
): Promise<string | null> {
  const stored = await store.coverage.genesis()
  if (stored !== null && stored !== genesis)
    return `the node is of the genesis ${genesis}, ${name} of ${stored}`
  for (const { slot, blockhash } of await endsOf(store)) {
    const served = blockhash === null ? null : await node!.blockhash(slot, signal, PROBE_TIMEOUT_MS)
    if (served !== null && served !== blockhash)
      return `block ${slot} is ${served} at the node, and ${blockhash} in ${name}`
  }
  return null
}

/** Reads the first and the newest block of a store. */
async function endsOf({ blocks }: ComparedStore): Promise<SlotRow[]> {
  const [first, head] = await Promise.all([blocks.firstSince(0), blocks.head()])
  const oldest = first === null ? null : await blocks.at(first)
  return [oldest, head].filter((row) => row !== null)
}
