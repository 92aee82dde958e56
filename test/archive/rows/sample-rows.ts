import { gzipSync, zstdCompressSync } from 'node:zlib'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { encodeBase58 } from '../../../src/chain/base58.ts'
import type { RowFormat } from '../../../src/archive/rows/row-file.ts'
import type { Compression } from '../../../src/recorded/files.ts'

/** A row by column; a number or big integer is written without quotes in NDJSON. */
export type SampleRow = Readonly<Record<string, string | number | bigint | boolean | null>>

export const WSOL = 'So11111111111111111111111111111111111111112'
export const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
export const PUMP_MINT = '8W7q66RpwARjTrLcrJusFWCE424UBLJp3HFPSfDepump'
export const PUMPFUN = '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P'

/** Returns an address that differs for each number below 256. */
export const addressOf = (number: number): string => encodeBase58(new Uint8Array(32).fill(number))
/** Returns a signature that differs for each number below 256. */
export const signatureOf = (number: number): string => encodeBase58(new Uint8Array(64).fill(number))

/** Returns a row that is accepted, with some columns replaced. */
export function ownRow(number: number, replaced: SampleRow = {}): SampleRow {
  return {
    slot: 254_170_887 + number,
    block_time: 1_710_000_000 + number,
    signature: signatureOf(number + 1),
    venue: 'pumpfun',
    program: PUMPFUN,
    pool: addressOf(number + 1),
    trader: addressOf(number + 2),
    in_mint: WSOL,
    out_mint: PUMP_MINT,
    in_amount_raw: 1_000_000n + BigInt(number),
    out_amount_raw: 18_446_744_073_709_551_615n - BigInt(number),
    tx_index: number,
    ix_index: 2,
    inner_ix_index: null,
    ...replaced
  }
}

export const ndjsonText = (rows: readonly SampleRow[]): string =>
  rows
    .map((row) => {
      const members = Object.entries(row).map(
        ([name, value]) =>
          `${JSON.stringify(name)}:${typeof value === 'bigint' ? value.toString() : JSON.stringify(value)}`
      )
      return `{${members.join(',')}}\n`
    })
    .join('')

export function csvText(rows: readonly SampleRow[], columns = Object.keys(rows[0] ?? {})): string {
  const cell = (value: unknown): string => {
    const isPlain = typeof value === 'string' || typeof value === 'bigint'
    const text = value === null || value === undefined ? '' : isPlain ? `${value}` : JSON.stringify(value)
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
  return [columns.join(','), ...rows.map((row) => columns.map((name) => cell(row[name])).join(','))]
    .map((line) => `${line}\n`)
    .join('')
}

/** Writes Parquet with text columns. */
export function parquetBytes(
  rows: readonly SampleRow[],
  columns = Object.keys(rows[0] ?? {}),
  rowGroupSize = 1_000
): Buffer {
  const columnData = columns.map((name) => ({
    name,
    type: 'STRING' as const,
    nullable: true,
    data: rows.map((row) => row[name]?.toString() ?? null)
  }))
  return Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize }))
}

export function compressed(bytes: Buffer, compression: Compression): Buffer {
  if (compression === null) return bytes
  return compression === 'gzip' ? gzipSync(bytes) : zstdCompressSync(bytes)
}

export const ENDINGS = { gzip: '.gz', zstd: '.zst' } as const

/** Returns the bytes of a file, in any format. */
export function fileBytes(
  rows: readonly SampleRow[],
  format: RowFormat,
  compression: Compression,
  columns?: string[]
): Buffer {
  const bytes =
    format === 'parquet'
      ? parquetBytes(rows, columns, 3)
      : Buffer.from(format === 'csv' ? csvText(rows, columns) : ndjsonText(rows))
  return compressed(bytes, compression)
}
