import { z } from 'zod'
import { TOKEN_PROGRAM_NAMES } from '../accounts/token-program.ts'
import { defineDocument, jsonBigint } from '../../storage/document-definition.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents } from '../../storage/documents.ts'

/** Milliseconds for which the pages of one paging run can be read. */
export const RUN_MS = 300_000
/** Holdings of one stored piece: each takes some 250 bytes, and a document has at most 32 KiB. */
export const PIECE = 50
/** Pieces that are stored at a time: they share a durable write, and each has 13 KB. */
const WRITTEN_AT_ONCE = 64

const holding = z.object({
  /** Base58. */
  mint: z.string(),
  amount: jsonBigint,
  /** Null where the mint could not be read. */
  decimals: z.number().nullable(),
  /** Null without a price. */
  priceUsd: z.number().nullable(),
  /** Block time of the price's trade, Unix seconds. */
  priceAt: z.number().nullable(),
  tokenProgram: z.enum(TOKEN_PROGRAM_NAMES),
  accounts: z.number(),
  isFrozen: z.boolean(),
  valueUsd: z.number().nullable()
})

/** A wallet's balance of a token, at a price. */
export type Holding = z.infer<typeof holding>

const holdings = z.object({
  run: z.string(),
  piece: z.number(),
  wallet: z.string(),
  slot: z.number(),
  atMs: z.number(),
  /** Lamports of the wallet. */
  lamports: jsonBigint,
  solUsd: z.number().nullable(),
  solPriceAt: z.number().nullable(),
  /** Value of all tokens of which one is known, without SOL. */
  tokensUsd: z.number(),
  count: z.number(),
  list: z.array(holding)
})

/** A piece of a wallet's holdings as they were at the first page of a paging run. */
const HOLDINGS_PIECE = defineDocument({
  kind: 'holdings-piece',
  schema: holdings,
  partition: ({ run }) => run,
  key: ({ piece }) => [piece],
  ttlMs: RUN_MS
})

/** All holdings of a wallet at one slot, sorted. */
export type Holdings = Omit<z.infer<typeof holdings>, 'run' | 'piece'>

/** Orders holdings by value, the largest first, those without one last; those of one value by mint. */
export function byValue(a: Holding, b: Holding): number {
  const [one, other] = [a.valueUsd ?? -1, b.valueUsd ?? -1]
  return one === other ? (a.mint < b.mint ? -1 : 1) : other - one
}

/** Holdings of paging runs, stored so that every process shows the same ones. */
export class HoldingRuns {
  readonly #documents: Documents<z.infer<typeof holdings>>

  constructor(store: DocumentStore) {
    this.#documents = new Documents(store, HOLDINGS_PIECE)
  }

  async put(run: string, all: Holdings): Promise<void> {
    const pieces = Array.from({ length: Math.ceil(all.list.length / PIECE) }, (_, piece) => ({
      ...all,
      run,
      piece,
      list: all.list.slice(piece * PIECE, (piece + 1) * PIECE)
    }))
    for (let from = 0; from < pieces.length; from += WRITTEN_AT_ONCE)
      await Promise.all(
        pieces.slice(from, from + WRITTEN_AT_ONCE).map(async (each) => this.#documents.insert(each))
      )
  }

  /** Reads holdings from one on; null once the run has ended. */
  async get(run: string, from: number, limit: number): Promise<Holdings | null> {
    const first = Math.floor(from / PIECE)
    const last = Math.floor((from + limit - 1) / PIECE)
    const pieces = []
    for (let piece = first; piece <= last; piece++) {
      const stored = await this.#documents.get(run, [piece])
      if (stored !== null) pieces.push(stored.value)
    }
    const [any] = pieces
    if (any === undefined || pieces[0]!.piece !== first) return null
    const list = pieces
      .flatMap((piece) => piece.list)
      .slice(from - first * PIECE, from - first * PIECE + limit)
    // The pieces of a run expire one after another.
    return list.length < Math.min(limit, any.count - from) ? null : { ...any, list }
  }
}
