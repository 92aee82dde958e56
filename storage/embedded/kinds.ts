import type { Pubkey } from '../../src/chain/pubkey.ts'
import type { Candle, LastPrice, LaunchRow, PairRow, SlotRow, SolPriceRow } from '../../src/market/rows.ts'
import type { KeyRow } from '../port.ts'
import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { readCandles, readOpenCandles, writeCandles, writeOpenCandles } from './candle-codec.ts'
import type { OpenCandles } from './candle-codec.ts'
import { launchStatusCodes, venueCodes } from './codes.ts'
import { KeyTable } from './key-table.ts'
import type { RecordKind } from './record.ts'
import { readRowOrigin, writeRowOrigin } from './row-origin-codec.ts'

/** Estimated bytes of a decoded candle with both prices in memory. */
const CANDLE_WEIGHT = 450

export const formatKind: RecordKind<number> = {
  name: 'format version',
  write: (out, version) => out.count(version),
  read: (source) => source.count(),
  weigh: () => 8
}

/** The mint that an index entry leads to. */
export const mintKind: RecordKind<Pubkey> = {
  name: 'launch index entry',
  write: (out, mint) => out.fixed(mint, 32),
  read: (source) => source.fixed(32),
  weigh: () => 100
}

export const slotKind: RecordKind<SlotRow> = {
  name: 'slot',
  write(out, row) {
    out.count(row.slot)
    out.offset(row.blockTime)
    out.optionalCount(row.parentSlot)
    out.count(row.transactions)
    out.count(row.trades)
    out.count(row.events)
    out.float(row.receivedAtMs)
  },
  read: (source) => ({
    slot: source.count(),
    blockTime: source.offset(),
    parentSlot: source.optionalCount(),
    transactions: source.count(),
    trades: source.count(),
    events: source.count(),
    receivedAtMs: source.float()
  }),
  weigh: () => 100
}

export const solPriceKind: RecordKind<SolPriceRow> = {
  name: 'sol price',
  write(out, row) {
    out.count(row.minute)
    out.float(row.usd)
    out.optionalCount(row.sourceMinute)
  },
  read: (source) => ({ minute: source.count(), usd: source.float(), sourceMinute: source.optionalCount() }),
  weigh: () => 60
}

export const openCandlesKind: RecordKind<OpenCandles> = {
  name: 'newest candles',
  write: writeOpenCandles,
  read: readOpenCandles,
  weigh: (open) => Object.keys(open).length * CANDLE_WEIGHT
}

export const candlePageKind: RecordKind<readonly Candle[]> = {
  name: 'candle page',
  write: writeCandles,
  read: readCandles,
  weigh: (candles) => candles.length * CANDLE_WEIGHT
}

export const pairKind: RecordKind<PairRow> = {
  name: 'pair',
  write(out, row) {
    out.fixed(row.mint, 32)
    out.fixed(row.cash, 32)
    out.count(row.decimals)
    out.count(row.cashDecimals)
    writeFloats(out, row.recent)
    writeFloats(out, row.excluded)
    out.byte(row.last === null ? 0 : 1)
    if (row.last !== null) writeLastPrice(out, row.last)
  },
  read: (source) => ({
    mint: source.fixed(32),
    cash: source.fixed(32),
    decimals: source.count(),
    cashDecimals: source.count(),
    recent: readFloats(source),
    excluded: readFloats(source),
    last: source.byte() === 0 ? null : readLastPrice(source)
  }),
  weigh: (row) => 800 + 8 * (row.recent.length + row.excluded.length)
}

export const launchKind: RecordKind<LaunchRow> = {
  name: 'launch',
  write(out, row) {
    const keys = new KeyTable()
    writeRowOrigin(out, row, null, keys)
    out.float(row.ingestedAtMs)
    keys.write(out, row.mint)
    keys.write(out, row.quoteMint)
    keys.write(out, row.creator)
    out.text(row.name)
    out.text(row.symbol)
    out.text(row.uri)
    out.optionalCount(row.decimals)
    out.byte(row.supply === null ? 0 : 1)
    if (row.supply !== null) out.amount(row.supply)
    keys.write(out, row.curve)
    out.byte(launchStatusCodes.codeOf(row.status))
  },
  read(source) {
    const keys = new KeyTable()
    return {
      ...readRowOrigin(source, null, keys),
      ingestedAtMs: source.float(),
      mint: keys.read(source),
      quoteMint: keys.read(source),
      creator: keys.read(source),
      name: source.text(),
      symbol: source.text(),
      uri: source.text(),
      decimals: source.optionalCount(),
      supply: source.byte() === 0 ? null : source.amount(),
      curve: keys.read(source),
      status: launchStatusCodes.wordOf(source.byte())
    }
  },
  weigh: (row) => 1_200 + 2 * (row.name.length + row.symbol.length + row.uri.length)
}

export const apiKeyKind: RecordKind<KeyRow> = {
  name: 'API key',
  write(out, row) {
    out.text(row.id)
    out.fixed(row.hash, 32)
    out.text(row.prefix)
    out.text(row.tenant)
    out.text(row.name)
    writeTexts(out, row.scopes)
    out.float(row.createdAtMs)
    out.optionalCount(row.ratePerMinute)
    writeOptionalFloat(out, row.expiresAtMs)
    writeOptionalFloat(out, row.revokedAtMs)
    writeTexts(out, row.allowedIps)
    writeTexts(out, row.corsOrigins)
    writeTexts(out, row.successor === null ? [] : [row.successor])
  },
  read: (source) => ({
    id: source.text(),
    hash: source.fixed(32),
    prefix: source.text(),
    tenant: source.text(),
    name: source.text(),
    scopes: readTexts(source),
    createdAtMs: source.float(),
    ratePerMinute: source.optionalCount(),
    expiresAtMs: readOptionalFloat(source),
    revokedAtMs: readOptionalFloat(source),
    allowedIps: readTexts(source),
    corsOrigins: readTexts(source),
    successor: readTexts(source)[0] ?? null
  }),
  weigh: () => 800
}

function writeTexts(out: ByteWriter, texts: readonly string[]): void {
  out.count(texts.length)
  for (const text of texts) out.text(text)
}

function readTexts(source: ByteReader): string[] {
  return Array.from({ length: source.count() }, () => source.text())
}

function writeOptionalFloat(out: ByteWriter, value: number | null): void {
  out.byte(value === null ? 0 : 1)
  if (value !== null) out.float(value)
}

function readOptionalFloat(source: ByteReader): number | null {
  return source.byte() === 0 ? null : source.float()
}

function writeFloats(out: ByteWriter, values: readonly number[]): void {
  out.count(values.length)
  for (const value of values) out.float(value)
}

function readFloats(source: ByteReader): number[] {
  return Array.from({ length: source.count() }, () => source.float())
}

function writeLastPrice(out: ByteWriter, last: LastPrice): void {
  out.count(last.cursor)
  out.count(last.slot)
  out.offset(last.blockTime)
  out.fixed(last.signature, 64)
  out.byte(venueCodes.codeOf(last.venue))
  out.fixed(last.pool, 32)
  out.float(last.price)
  out.byte(last.cashUsd === null ? 0 : 1)
  if (last.cashUsd !== null) out.float(last.cashUsd)
}

function readLastPrice(source: ByteReader): LastPrice {
  return {
    cursor: source.count(),
    slot: source.count(),
    blockTime: source.offset(),
    signature: source.fixed(64),
    venue: venueCodes.wordOf(source.byte()),
    pool: source.fixed(32),
    price: source.float(),
    cashUsd: source.byte() === 0 ? null : source.float()
  }
}
