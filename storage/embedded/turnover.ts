import type { ActivityStore, BlockCommit, MintTurnover } from '../port.ts'
import type { Finding } from './finding.ts'
import { addressIn, keyAfter, keysOf, turnoverKey, turnoverKeysOf } from './keys.ts'
import type { Key } from './keys.ts'
import type { RecordKind } from './record.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

type TurnoverMinutes = MintTurnover['minutes']

const HOUR = 3_600
/** A rolling day reaches into the hour that began 25 hours before the running one; one more for the sake of readers. */
const KEPT_SECONDS = 26 * HOUR
/** So a block that begins an hour does not pay for all that ends with it. */
const EXPIRED_PER_BLOCK_MAX = 256

/** An entry of the index from an hour to the mints that traded in it, with what ranks them. */
const turnoverKind: RecordKind<TurnoverMinutes> = {
  name: 'turnover entry',
  write(out, minutes) {
    let before = 0
    for (const { minute, trades, volumeMicroUsd } of minutes) {
      out.count(minute - before)
      out.count(trades)
      out.amount(volumeMicroUsd)
      before = minute
    }
  },
  read(source) {
    const minutes: TurnoverMinutes[number][] = []
    for (let before = 0; !source.atEnd; before = minutes.at(-1)!.minute)
      minutes.push({
        minute: before + source.count(),
        trades: source.count(),
        volumeMicroUsd: source.amount()
      })
    return minutes
  },
  weigh: (minutes) => 100 * minutes.length
}

/** Up to which key all that is old is deleted. */
const deletedUntil: Finding<Key> = { sign: '<', weigh: () => 100 }

export async function mintsOfHour(
  view: View,
  hour: number,
  page: Parameters<ActivityStore['mintsOfHour']>[1]
): Promise<MintTurnover[]> {
  const found: MintTurnover[] = []
  if (page.limit <= 0) return found
  const { gte, lt } = turnoverKeysOf(hour)
  const range = { gte: page.after === undefined ? gte : keyAfter(turnoverKey(hour, page.after)), lt }
  for await (const [key, minutes] of view.scan(turnoverKind, range, { expected: page.limit })) {
    found.push({ mint: addressIn(key, 5), minutes })
    if (found.length === page.limit) break
  }
  return found
}

/** Writes what a block's mints traded, and deletes some of what is too old to rank. */
export async function stageTurnover(view: View, batch: WriteBatch, block: BlockCommit): Promise<void> {
  const oldest = Math.floor((block.slot.blockTime - KEPT_SECONDS) / HOUR) * HOUR
  for (const { of, owner, hour, minutes } of block.activity) {
    if (of !== 'mint' || hour < oldest) continue
    const traded = minutes.filter(({ trades }) => trades > 0)
    if (traded.length > 0) batch.putUnkept(turnoverKind, turnoverKey(hour, owner), traded)
  }
  await stageDeletions(view, batch, turnoverKeysOf(oldest).gte)
}

async function stageDeletions(view: View, batch: WriteBatch, oldest: Key): Promise<void> {
  const begin = keysOf('h').gte
  const reached = view.recall(deletedUntil, begin) ?? begin
  if (Buffer.compare(reached, oldest) >= 0) return
  const options = { expected: EXPIRED_PER_BLOCK_MAX }
  let expired = 0
  let until = oldest
  for await (const [key] of view.scan(turnoverKind, { gte: reached, lt: oldest }, options)) {
    batch.delete(key)
    until = keyAfter(key)
    if (++expired === EXPIRED_PER_BLOCK_MAX) break
  }
  batch.remember(deletedUntil, begin, expired === EXPIRED_PER_BLOCK_MAX ? until : oldest)
}
