import type { TradeRow } from '../../src/market/rows.ts'
import type { RowCodec } from './row-origin.ts'

/** A trade of a wallet in the list of the trade's mint. */
export interface WalletReference {
  readonly cursor: number
  /** The first bytes of the mint's address. Mints that share them are searched one after another for the cursor. */
  readonly mintStart: Uint8Array
}

/** With a million mints, the chance that two of them share eight bytes is 3 in 10^8. */
const MINT_START_BYTES = 8

export const referenceTo = ({ cursor, mint }: Pick<TradeRow, 'cursor' | 'mint'>): WalletReference => ({
  cursor,
  mintStart: mint.slice(0, MINT_START_BYTES)
})

/** References of a page, relative to the one before: traders often trade one mint several times in a row. */
export const walletReferenceCodec: RowCodec<WalletReference, WalletReference> = {
  write(out, { cursor, mintStart }, before) {
    out.count(cursor - (before?.cursor ?? 0))
    const isSame = before !== null && Buffer.compare(before.mintStart, mintStart) === 0
    out.byte(isSame ? 1 : 0)
    if (!isSame) out.fixed(mintStart, MINT_START_BYTES)
  },
  read(source, before) {
    const cursor = source.count() + (before?.cursor ?? 0)
    const isSame = source.byte() === 1 && before !== null
    return { cursor, mintStart: isSame ? before.mintStart : source.fixed(MINT_START_BYTES) }
  },
  beforeOf: (reference) => reference
}
