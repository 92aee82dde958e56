import { z } from 'zod'
import { defineDocument, jsonBigint, jsonBytes } from '../../storage/document-definition.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents } from '../../storage/documents.ts'
import { comparePubkeys } from '../chain/pubkey.ts'
import { packHoldings, unpackHoldings, type Holding } from './holding-bytes.ts'

/** Milliseconds for which the pages of one paging run can be read. */
export const RUN_MS = 300_000
/** Holdings of one stored piece: 31 KB of base64; a document has at most 32 KiB. */
export const PIECE = 300
/** Pieces stored together, in one write: those of 10,000 holdings. */
const WRITTEN_AT_ONCE = 34

const piece = z.object({
  run: z.string(),
  piece: z.number(),
  wallet: z.string(),
  slot: z.number(),
  atMs: z.number(),
  /** Lamports of the wallet. */
  lamports: jsonBigint,
  solUsd: z.number().nullable(),
  solPriceAt: z.number().nullable(),
  /** Value of all tokens whose value is known, without SOL. */
  tokensUsd: z.number(),
  /** Tokens without a known value; null in a piece of a version that did not count them. */
  unvalued: z.number().nullable().default(null),
  count: z.number(),
  /** As `packHoldings` writes them. */
  list: jsonBytes
})
type Piece = z.infer<typeof piece>

/** A piece of a wallet's holdings as they were at the first page of a paging run. */
const HOLDINGS_PIECE = defineDocument({
  kind: 'holdings-piece',
  schema: piece,
  partition: ({ run }) => run,
  key: ({ piece }) => [piece],
  ttlMs: RUN_MS,
  // A sync would take most of the time, and a client that loses a run restarts at the first page.
  isScratch: true
})

/** All holdings of a wallet at one slot, sorted. */
export type Holdings = Omit<Piece, 'run' | 'piece' | 'list'> & { readonly list: readonly Holding[] }

/**
 * Orders holdings by value, the largest first, and those without a value last. Equal values are ordered by the mint's
 * bytes.
 */
export function byValue(a: Holding, b: Holding): number {
  const [one, other] = [a.valueUsd ?? -1, b.valueUsd ?? -1]
  return one === other ? comparePubkeys(a.mint, b.mint) : other - one
}

/** Holdings of paging runs, stored so that every process returns equal pages. */
export class HoldingRuns {
  readonly #documents: Documents<Piece>

  constructor(store: DocumentStore) {
    this.#documents = new Documents(store, HOLDINGS_PIECE)
  }

  async put(run: string, { list, ...all }: Holdings): Promise<void> {
    const pieces = Array.from({ length: Math.ceil(list.length / PIECE) }, (_, at) => at)
    for (let from = 0; from < pieces.length; from += WRITTEN_AT_ONCE)
      await Promise.all(
        pieces.slice(from, from + WRITTEN_AT_ONCE).map(async (at) => {
          const packed = packHoldings(list.slice(at * PIECE, (at + 1) * PIECE))
          return this.#documents.insert({ ...all, run, piece: at, list: packed })
        })
      )
  }

  /** Reads holdings from a given index on; null once the run has expired. */
  async get(run: string, from: number, limit: number): Promise<Holdings | null> {
    const first = Math.floor(from / PIECE)
    const last = Math.floor((from + limit - 1) / PIECE)
    const pieces: Piece[] = []
    for (let at = first; at <= last; at++) {
      const stored = await this.#documents.get(run, [at])
      if (stored !== null) pieces.push(stored.value)
    }
    const [any] = pieces
    if (any === undefined || any.piece !== first) return null
    const skipped = from - first * PIECE
    const list = pieces.flatMap(({ list: packed }) => unpackHoldings(packed)).slice(skipped, skipped + limit)
    // The pieces of a run expire one after another.
    return list.length < Math.min(limit, any.count - from) ? null : { ...any, list }
  }
}
