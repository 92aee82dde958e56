import { crc32 } from 'node:zlib'
import { z } from 'zod'
import { ServiceError } from '../../kernel/errors.ts'
import type { PoolRow } from '../../market/registry-rows.ts'
import { foreignCursor, readWordsCursor, writeWordsCursor } from '../../kernel/http/page-cursor.ts'

/** Pools of a token that are ranked: the largest page. Older pools follow, newest first. */
export const RANKED_POOLS_MAX = 500

/**
 * The position in a paging run. The first page fixes the order of the pools, so a pool whose liquidity changes
 * between pages is neither left out nor listed twice.
 */
export interface RankingPlace {
  /** Pools first seen before this cursor belong to the run. */
  readonly before: number
  /** Indexes of the remaining ranked pools, counted from the run's newest pool. Empty if only older pools remain. */
  readonly left: readonly number[]
  /** Checksum of the ranked pools; 0 if none remain. */
  readonly sum: number
}

/**
 * Returns the indexes of pools ranked by value, descending or ascending. The input is newest first. Pools without a
 * value come last; equal values stay newest first.
 */
export function rankPlaces(values: readonly (number | null)[], order: 'asc' | 'desc'): number[] {
  const sign = order === 'desc' ? -1 : 1
  return [...values.keys()].sort((a, b) => {
    const [one, other] = [values[a]!, values[b]!]
    if (one === null || other === null) return Number(one === null) - Number(other === null) || a - b
    return sign * (one - other) || a - b
  })
}

/** Returns a checksum of pools and their order. */
export const poolsSum = (rows: readonly PoolRow[]): number =>
  crc32(Float64Array.from(rows, ({ firstCursor }) => firstCursor))

/** Encodes a place as the `after` of a list. */
export function writeRankingCursor(list: string, { before, left, sum }: RankingPlace): string {
  const places = Buffer.from(Uint16Array.from(left).buffer).toString('base64url')
  return writeWordsCursor(list, [String(before), String(sum), places])
}

/** Decodes the `after` of a list. Throws CURSOR_INVALID. */
export function readRankingCursor(list: string, text: string): RankingPlace {
  const place = PLACE.safeParse(readWordsCursor(list, text))
  if (!place.success) throw foreignCursor()
  const [before, sum, places] = place.data
  return { before, sum, left: [...new Uint16Array(places.buffer)] }
}

const whole = z
  .string()
  .regex(/^\d{1,16}$/)
  .transform(Number)
const PLACE = z.tuple([
  whole,
  whole,
  z
    .string()
    .transform((text) => Uint8Array.from(Buffer.from(text, 'base64url')))
    .refine(({ length }) => length % 2 === 0)
])

/**
 * Returns the refusal of a cursor whose pools have changed: a missing block was added, or a block was lost to a fork.
 */
export const rankingExpired = (): ServiceError =>
  new ServiceError(
    'CURSOR_EXPIRED',
    'the pools of this token have changed since the first page; begin with the first page'
  )
