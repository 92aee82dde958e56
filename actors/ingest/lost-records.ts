import { unchanged } from '../../src/market/amendment.ts'
import { DAMAGED } from '../../src/market/gap-reasons.ts'
import { gapsAfter } from '../../src/ingest/coverage.ts'
import type { Logger } from '../../src/kernel/telemetry/logger.ts'
import { foldCandlesAgain } from '../../src/store/verify/candle-repair.ts'
import type { GapRow, Losses, Storage } from '../../storage/port.ts'
import { LostRows, type LostRowsDeps, type Missed } from './lost-rows.ts'

const NO_GAPS = { put: [], remove: [] }
/** Arbitrary: with more of them one gap from the first to the last is easier to read. */
const GAPS_MAX = 100

/**
 * Rebuilds the records that a repair has lost, before any block is committed behind them. The store ends as one that was
 * never damaged, or with gaps that name the reason. Rejects with the signal's reason; the next call then starts from the
 * beginning.
 *
 * R1. Blocks with lost rows are read again, and the rows put in their places (`lost-rows.ts`).
 * R2. Other records follow from all blocks up to theirs. All blocks are folded again in a scratch store, and lost records
 *     are copied from it. That needs all rows since the first block.
 * R3. The record of the losses is deleted last: a process that is killed before starts over.
 */
export async function remake(
  storage: Storage,
  losses: Losses,
  deps: LostRowsDeps & { readonly logger: Logger },
  signal: AbortSignal
): Promise<void> {
  const { logger, clock } = deps
  const [head, horizon] = await Promise.all([storage.blocks.head(), storage.coverage.horizon()])
  const isFolded = losses.folded.length > 0 && horizon === null
  logger.warn({ folded: losses.folded }, 'ingest waits until the records that a repair lost are rebuilt')
  const scratch = isFolded ? await losses.scratch() : null
  const lost = new LostRows(storage, scratch, deps, signal)
  try {
    await lost.run(losses, horizon?.cursor ?? 0)
  } finally {
    await scratch?.close()
  }
  if (isFolded)
    for await (const part of losses.made()) {
      signal.throwIfAborted()
      const amendment = unchanged(head, { totals: await storage.totals.get() })
      await storage.history.amend({ ...amendment, ...part }, NO_GAPS)
      lost.changed(part.pairs?.put ?? [])
    }
  // Candles of a mint are folded from its rows, once its pairs say that it has some.
  await foldCandlesAgain(storage, [...lost.mints.values()])
  const before = await gapsAfter(storage.coverage, null)
  const gaps = gapsLeft(lost, losses.folded, isFolded, head?.slot ?? 0)
  const put = [...lost.holes, ...gaps].map((gap) => ({ ...gap, reason: DAMAGED, atMs: clock.now() }))
  const remove = before.filter(({ reason }) => reason === DAMAGED).map(({ from }) => from)
  await losses.settle({ put, remove: remove.filter((from) => !put.some((gap) => gap.from === from)) })
  for (const gap of put) logger.error(gap, `slots ${gap.from} to ${gap.to} stay damaged: ${gap.detail}`)
  const { asked, rows } = lost
  const but = put.length === 0 ? '' : ', except for the gaps'
  logger.info(
    { asked, rows },
    `the records that a repair lost are rebuilt${but}; ${asked} blocks were reread`
  )
}

type GapLeft = Pick<GapRow, 'from' | 'to' | 'detail'>

/** Gaps of what stays lost or may be wrong, each with its reason. */
function gapsLeft(
  { first, missing, strange }: Pick<LostRows, 'first' | 'missing' | 'strange'>,
  folded: readonly string[],
  isFolded: boolean,
  head: number
): GapLeft[] {
  const kinds = folded.join(', ')
  const blocks = missing.map(({ slot, why }) => ({ from: slot, to: slot, detail: lostRows(1, why) }))
  if (folded.length > 0 && !isFolded) {
    const detail = `some ${kinds} are lost and cannot be rebuilt, because their rows are past the retention`
    return [{ from: first, to: head, detail: [detail, ...missing.map(notRead)].slice(0, 10).join('; ') }]
  }
  const doubt = Math.min(missing[0]?.slot ?? Infinity, strange ?? Infinity)
  if (folded.length > 0 && doubt < Infinity) {
    const [unread] = missing
    const detail =
      unread === undefined
        ? `some ${kinds} were lost; they are rebuilt, with other values than the records stored with them`
        : `some ${kinds} were lost; they are rebuilt without ${missing.length} blocks; ${notRead(unread)}`
    return [{ from: doubt, to: head, detail }]
  }
  if (blocks.length <= GAPS_MAX) return blocks
  const { slot: to, why } = missing.at(-1)!
  return [{ from: missing[0]!.slot, to, detail: lostRows(blocks.length, why) }]
}

const lostRows = (count: number, why: string): string =>
  count === 1 ? `some rows of the block are lost: ${why}` : `some rows of ${count} blocks are lost: ${why}`
const notRead = ({ slot, why }: Missed): string => `the block of slot ${slot} is not reread: ${why}`
