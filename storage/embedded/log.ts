import type { LogChannel, LogEntry } from '../../src/market/log.ts'
import { logChannelCodes } from '../codec/codes.ts'
import { keyAfter, logAddressIn, logKey, logKeysOf, slotKey } from '../codec/keys.ts'
import type { Key } from '../codec/keys.ts'
import { slotKind } from '../codec/kinds.ts'
import { logEntryKind, logEntriesIn } from '../codec/log-entry.ts'
import { logPage } from '../log-pages.ts'
import type { LogSlots } from '../log-pages.ts'
import type { BlockCommit } from '../port.ts'
import type { Database } from './database.ts'
import type { CachedFact } from './cached-fact.ts'
import type { RecordTable } from './record-table.ts'
import type { View } from './view.ts'
import type { WriteBatch } from './write-batch.ts'

/** More than a channel gets from one deletion to the next. So deletions catch up after the horizon was moved closer. */
const EXPIRED_PER_BLOCK_MAX = 128

const CHANNELS = logChannelCodes.words
/**
 * A prime above the number of channels, so that every channel has its turn even if the chain leaves out every second slot.
 */
const TURNS = 23

/** The key up to which a channel is deleted, and an upper bound of the next entry's block time. */
interface Deleted {
  readonly until: Key
  readonly nextTime: number
}

const deletedUntil: CachedFact<Deleted> = { sign: '(', weigh: () => 100 }

/** `seconds` is how long the log is kept; null means for ever. */
export function logTable(database: Database, seconds: number | null): RecordTable<'log'> {
  return {
    port: {
      read: (channel, page) =>
        database.read((view) => logPage(page, (slots) => partsOf(view, channel, slots)))
    },
    stage: (view, batch, block) => stageLog(view, batch, block, seconds),
    amend(_, batch, { log: { put, remove } }) {
      for (const { channel, slot } of remove) batch.delete(logKey(channel, slot))
      for (const entry of put) batch.putUncached(logEntryKind, logKey(entry.channel, entry.slot), entry)
    }
  }
}

async function partsOf(
  view: View,
  channel: LogChannel,
  { first, last, limit, allocator }: LogSlots
): Promise<LogEntry[]> {
  const entries: LogEntry[] = []
  const range = { gte: logKey(channel, first), lt: keyAfter(logKey(channel, last)) }
  for await (const [, entry] of view.scan(logEntriesIn(allocator), range, { expected: limit })) {
    entries.push(entry)
    if (entries.length === limit) break
  }
  return entries
}

/**
 * Writes a block's entries, and deletes some entries beyond the horizon, which is `seconds` before the block; null keeps
 * all.
 */
async function stageLog(
  view: View,
  batch: WriteBatch,
  { slot, log }: BlockCommit,
  seconds: number | null
): Promise<void> {
  for (const entry of log) batch.putUncached(logEntryKind, logKey(entry.channel, entry.slot), entry)
  const channel = CHANNELS[slot.slot % TURNS]
  if (seconds !== null && channel !== undefined)
    await stageDeletions(view, batch, channel, { time: slot.blockTime, oldestTime: slot.blockTime - seconds })
}

async function stageDeletions(
  view: View,
  batch: WriteBatch,
  channel: LogChannel,
  { time, oldestTime }: { readonly time: number; readonly oldestTime: number }
): Promise<void> {
  const { gte: begin, lt } = logKeysOf(channel)
  const known = view.recall(deletedUntil, begin)
  if (known !== undefined && known.nextTime >= oldestTime) return
  const gte = known?.until ?? begin
  const keys = await view.keys({ gte, lt }, EXPIRED_PER_BLOCK_MAX)
  let old = 0
  // An empty channel gets no entries older than this block.
  let nextTime = keys.length === 0 ? time : -Infinity
  for (const [i, key] of keys.entries()) {
    const row = view.get(slotKind, slotKey(logAddressIn(key).slot))
    // Blocks that were committed together have one row: the last block's.
    if (row === null) continue
    if (row.blockTime >= oldestTime) {
      nextTime = row.blockTime
      break
    }
    old = i + 1
  }
  for (const key of keys.slice(0, old)) batch.delete(key)
  const until = old === 0 ? gte : keyAfter(keys[old - 1]!)
  batch.remember(deletedUntil, begin, { until, nextTime })
}
