import type { ActivityHour, ActivityMinute } from '../../src/market/activity-rows.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { activityOfCodes } from './codes.ts'
import { GrowingLists } from './growing-list.ts'
import { addressIn, hourOfActivityKey } from './keys.ts'
import type { RecordKind } from './record.ts'

/** Bits of a minute's flags: what is there beside the trades. */
const OPEN_USD = 1
const CLOSE_USD = 2
/** The close is another price than the open. */
const MOVED = 4
/** There were events that are no trades. */
const OTHERS = 8

const minuteLists = new GrowingLists<ActivityMinute>()

export const activityKind: RecordKind<ActivityHour> = {
  name: 'activity hour',
  write(out, row) {
    out.optionalFloat(row.priorUsd)
    out.bytes(row.traders)
    minuteLists.write(out, row.minutes, (out, minute, before) => {
      out.count(minute.minute - (before?.minute ?? row.hour))
      writeMinute(out, minute)
    })
  },
  read(source, key) {
    const hour = hourOfActivityKey(key)
    const priorUsd = source.optionalFloat()
    const traders = source.bytes()
    const minutes: ActivityMinute[] = []
    for (let before = hour; !source.atEnd; before = minutes.at(-1)!.minute)
      minutes.push(readMinute(source, before + source.count()))
    return { of: activityOfCodes.wordOf(key[1]!), owner: addressIn(key, 2), hour, minutes, priorUsd, traders }
  },
  weigh: (row) => 300 + 250 * row.minutes.length + row.traders.length
}

function writeMinute(out: ByteWriter, minute: ActivityMinute): void {
  const { openUsd, closeUsd } = minute
  const moved = openUsd !== null && closeUsd !== null && openUsd !== closeUsd
  const others = minute.events !== minute.trades || minute.liquidity > 0 || minute.launches > 0
  out.byte(
    (openUsd === null ? 0 : OPEN_USD) |
      (closeUsd === null ? 0 : CLOSE_USD) |
      (moved ? MOVED : 0) |
      (others ? OTHERS : 0)
  )
  out.count(minute.trades)
  out.count(minute.buys)
  out.count(minute.sells)
  if (others) {
    out.count(minute.events)
    out.count(minute.liquidity)
    out.count(minute.launches)
  }
  out.count(minute.priced)
  out.amount(minute.volumeMicroUsd)
  out.amount(minute.buyMicroUsd)
  out.amount(minute.sellMicroUsd)
  out.amount(minute.volumeCash)
  out.amount(minute.volumeToken)
  if (openUsd !== null) out.float(openUsd)
  if (closeUsd !== null && (moved || openUsd === null)) out.float(closeUsd)
}

function readMinute(source: ByteReader, minute: number): ActivityMinute {
  const flags = source.byte()
  const trades = source.count()
  const buys = source.count()
  const sells = source.count()
  const others = (flags & OTHERS) !== 0
  const sums = {
    minute,
    events: others ? source.count() : trades,
    trades,
    buys,
    sells,
    liquidity: others ? source.count() : 0,
    launches: others ? source.count() : 0,
    priced: source.count(),
    volumeMicroUsd: source.amount(),
    buyMicroUsd: source.amount(),
    sellMicroUsd: source.amount(),
    volumeCash: source.amount(),
    volumeToken: source.amount()
  }
  const openUsd = flags & OPEN_USD ? source.float() : null
  const stated = (flags & MOVED) !== 0 || openUsd === null
  const closeUsd = !(flags & CLOSE_USD) ? null : stated ? source.float() : openUsd
  return { ...sums, openUsd, closeUsd }
}
