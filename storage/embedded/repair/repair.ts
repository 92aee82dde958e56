import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pubkey } from '../../../src/chain/pubkey.ts'
import { DAMAGED, READ_AGAIN } from '../../../src/market/gap-reasons.ts'
import type { GapRow, Storage } from '../../port.ts'
import { readKnownDamage, withStoreLock } from '../engine-files/isolation.ts'
import { openEmbeddedStorage } from '../store.ts'
import { rebuildStore, type Loss, type Rebuilt } from './rebuild.ts'
import { salvageFiles } from './salvage.ts'

export interface RepairOptions {
  readonly directory: string
  /**
   * Whether the new store is empty except for tenants and keys, so that ingest reads every block from the source again.
   * `always`: in any case. `when rows are lost`: if the store cannot restore some rows. `never`: only if the newest slot is
   * lost, because no block can follow then.
   */
  readonly startOver: 'always' | 'when rows are lost' | 'never'
  readonly nowMs: number
  /** Retention of rows for a store that has lost its horizon; null means for ever. */
  readonly retentionSeconds: number | null
  /** Recomputes the candles of mints from their stored trades. */
  readonly foldCandles: (storage: Storage, mints: readonly Pubkey[]) => Promise<unknown>
}

export type RepairOutcome =
  | { readonly kind: 'sound' }
  | {
      readonly kind: 'repaired'
      /** Directory in which the damaged store is kept unchanged. */
      readonly aside: string
      readonly startedOver: boolean
      /** Damage that was found, one line each. */
      readonly reasons: readonly string[]
      readonly losses: readonly Loss[]
      readonly gaps: readonly GapRow[]
      readonly records: number
    }

/**
 * Replaces a store by one with all readable records, and keeps the old one next to it. Needs free space of twice the store's
 * size. Rejects with STORAGE_UNAVAILABLE while another process has the store open.
 */
export function repairStore(options: RepairOptions): Promise<RepairOutcome> {
  return withStoreLock(options.directory, () => repair(options))
}

async function repair({
  directory,
  startOver,
  nowMs,
  retentionSeconds,
  foldCandles
}: RepairOptions): Promise<RepairOutcome> {
  const work = `${directory}.repairing`
  const [files, store] = [join(work, 'files'), join(work, 'store')]
  await rm(work, { recursive: true, force: true })
  try {
    const { damage, notes } = await salvageFiles(directory, files)
    const known = await readKnownDamage(directory)
    let rebuilt = await rebuildStore(files, store, [...damage, ...known], {
      rows: startOver !== 'always',
      retentionSeconds,
      nowMs
    })
    const reasons = [...notes, ...rebuilt.reasons]
    const isSound = damage.length + known.length + reasons.length === 0
    if (isSound && startOver !== 'always') return { kind: 'sound' }
    const { losses, slots, isHeadLost } = rebuilt
    const isAgain = startOver !== 'never' && losses.length > 0
    const startedOver = startOver === 'always' || isAgain || isHeadLost
    if (startedOver && startOver !== 'always') {
      await rm(store, { recursive: true })
      rebuilt = await rebuildStore(files, store, [...damage, ...known], {
        rows: false,
        retentionSeconds,
        nowMs
      })
    }
    const gaps = startedOver ? readAgainGaps(slots, nowMs) : lossGaps(losses, slots, nowMs)
    const storage = await openEmbeddedStorage({ directory: store })
    try {
      if (!startedOver) await foldCandles(storage, rebuilt.candleMints)
      for (const gap of gaps) await storage.coverage.addGap(gap)
    } finally {
      await storage.close()
    }
    const aside = `${directory}.damaged-${new Date(nowMs).toISOString().replaceAll(/[:.]/g, '')}`
    await rename(directory, aside)
    await rename(store, directory)
    return { kind: 'repaired', aside, startedOver, reasons, losses, gaps, records: rebuilt.records }
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

function readAgainGaps(slots: Rebuilt['slots'], atMs: number): GapRow[] {
  const detail = 'a repair has emptied the store; these slots are read again from the source'
  return slots === null ? [] : [{ ...slots, reason: READ_AGAIN, detail, atMs }]
}

/** The slots of losses, as far as they are known; else all slots of the store. Gaps that touch are one. */
function lossGaps(losses: readonly Loss[], slots: Rebuilt['slots'], atMs: number): GapRow[] {
  if (slots === null || losses.length === 0) return []
  const ranges = losses
    .map((loss) => ({
      kind: loss.kind,
      from: Math.max(loss.slots?.from ?? slots.from, slots.from),
      to: Math.min(loss.slots?.to ?? slots.to, slots.to)
    }))
    .filter(({ from, to }) => from <= to)
    .sort((a, b) => a.from - b.from)
  const merged: { from: number; to: number; kinds: Set<string> }[] = []
  for (const { kind, from, to } of ranges) {
    const last = merged.at(-1)
    if (last === undefined || from > last.to + 1) merged.push({ from, to, kinds: new Set([kind]) })
    else {
      last.to = Math.max(last.to, to)
      last.kinds.add(kind)
    }
  }
  return merged.map(({ from, to, kinds }) => {
    const detail = `some ${[...kinds].join(', ')} of these slots were lost with damaged files of the store`
    return { from, to, reason: DAMAGED, detail, atMs }
  })
}
