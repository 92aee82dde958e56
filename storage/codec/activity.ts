import type { ActivityHour, ActivityMinute } from '../../src/market/activity-rows.ts'
import * as column from '../../src/market/minute-columns.ts'
import type { MinuteColumns } from '../../src/market/minute-columns.ts'
import { LARGE, type ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { activityOfCodes } from './codes.ts'
import { GrowingLists } from './growing-list.ts'
import { addressIn, hourOfActivityKey } from './keys.ts'
import type { RecordKind } from './record.ts'
import { readUsdPrice, writeUsdPrice } from './usd-price.ts'

/** Bits of a minute's flags: the fields that are present besides the trades. */
const OPEN_USD = 1
const CLOSE_USD = 2
/** The close differs from the open. */
const MOVED = 4
/** The minute has events other than trades. */
const OTHERS = 8
/** The first, or the last, price-forming row has no price in USD. */
const OPEN_UNPRICED = 16
const CLOSE_UNPRICED = 32

const minuteLists = new GrowingLists<ActivityMinute>()

/**
 * An hour of an owner's activity: its minutes ascending, the price before it and its sketch of traders. Owner and hour are
 * in the key.
 */
export const activityKind: RecordKind<ActivityHour> = {
  name: 'activity hour',
  write(out, row) {
    writeUsdPrice(out, row.priorUsd)
    out.bytes(row.traders)
    minuteLists.write(out, row.minutes, (out, minute, before) => {
      out.count(minute.minute - (before?.minute ?? row.hour))
      writeMinute(out, minute)
    })
  },
  read(source, key) {
    const hour = hourOfActivityKey(key)
    const priorUsd = readUsdPrice(source)
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
  const isOpenPriced = typeof openUsd === 'number'
  const isClosePriced = typeof closeUsd === 'number'
  const moved = isOpenPriced && isClosePriced && openUsd !== closeUsd
  const others = minute.events !== minute.trades || minute.liquidity > 0 || minute.launches > 0
  out.byte(
    (isOpenPriced ? OPEN_USD : 0) |
      (isClosePriced ? CLOSE_USD : 0) |
      (moved ? MOVED : 0) |
      (others ? OTHERS : 0) |
      (openUsd === 'unpriced' ? OPEN_UNPRICED : 0) |
      (closeUsd === 'unpriced' ? CLOSE_UNPRICED : 0)
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
  if (isOpenPriced) out.float(openUsd)
  if (isClosePriced && (moved || !isOpenPriced)) out.float(closeUsd)
}

function readMinute(source: ByteReader, minute: number): ActivityMinute {
  const flags = source.byte()
  const trades = source.count()
  const buys = source.count()
  const sells = source.count()
  const others = (flags & OTHERS) !== 0
  const events = others ? source.count() : trades
  const liquidity = others ? source.count() : 0
  const launches = others ? source.count() : 0
  const priced = source.count()
  const volumeMicroUsd = source.amount()
  const buyMicroUsd = source.amount()
  const sellMicroUsd = source.amount()
  const volumeCash = source.amount()
  const volumeToken = source.amount()
  const open = flags & OPEN_USD ? source.float() : null
  const stated = (flags & MOVED) !== 0 || open === null
  const close = !(flags & CLOSE_USD) ? null : stated ? source.float() : open
  return {
    minute,
    events,
    trades,
    buys,
    sells,
    liquidity,
    launches,
    priced,
    volumeMicroUsd,
    buyMicroUsd,
    sellMicroUsd,
    volumeCash,
    volumeToken,
    openUsd: flags & OPEN_UNPRICED ? 'unpriced' : open,
    closeUsd: flags & CLOSE_UNPRICED ? 'unpriced' : close
  }
}

/** Reads an hour into columns, to the end of the source. Returns false if one of its sums does not fit. */
export function readMinuteColumns(
  source: ByteReader,
  bytes: Uint8Array,
  hour: number,
  into: MinuteColumns
): boolean {
  const priorUsd = readUsdPrice(source)
  const length = source.count()
  const at = source.skip(length)
  const first = into.length
  for (let minute = hour; !source.atEnd;) {
    minute += source.count()
    if (!readMinuteColumn(source, minute, into)) return false
  }
  const traders = bytes.subarray(at, at + length)
  into.hours.push({ hour, priorUsd, traders, first, minutes: into.length - first })
  return true
}

/** Reads a minute, as `readMinute` does. */
function readMinuteColumn(source: ByteReader, minute: number, into: MinuteColumns): boolean {
  const place = into.add()
  const { numbers } = into
  const flags = source.byte()
  numbers[place + column.MINUTE] = minute
  numbers[place + column.TRADES] = source.count()
  numbers[place + column.BUYS] = source.count()
  numbers[place + column.SELLS] = source.count()
  if (flags & OTHERS) for (let field = 0; field < 3; field++) source.count()
  numbers[place + column.PRICED] = source.count()
  const volumeMicroUsd = source.safeAmount()
  const buyMicroUsd = source.safeAmount()
  const sellMicroUsd = source.safeAmount()
  const volumeCash = source.safeAmount()
  if (Math.min(volumeMicroUsd, buyMicroUsd, sellMicroUsd, volumeCash) === LARGE) return false
  numbers[place + column.VOLUME_MICRO_USD] = volumeMicroUsd
  numbers[place + column.BUY_MICRO_USD] = buyMicroUsd
  numbers[place + column.SELL_MICRO_USD] = sellMicroUsd
  numbers[place + column.VOLUME_CASH] = volumeCash
  // The volume in tokens, which no window of a mint has.
  source.count()
  const open = flags & OPEN_USD ? source.float() : Number.NaN
  const isStated = (flags & MOVED) !== 0 || (flags & OPEN_USD) === 0
  const close = !(flags & CLOSE_USD) ? Number.NaN : isStated ? source.float() : open
  numbers[place + column.OPEN_USD] = flags & OPEN_UNPRICED ? column.UNPRICED : open
  numbers[place + column.CLOSE_USD] = flags & CLOSE_UNPRICED ? column.UNPRICED : close
  return true
}
