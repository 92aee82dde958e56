import { ByteReader } from '../../storage/codec/byte-reader.ts'
import { ByteWriter } from '../../storage/codec/byte-writer.ts'
import { Codes } from '../../storage/codec/codes.ts'
import type { LedgerPage } from '../../storage/port/ledger.ts'
import { WSOL } from '../market/cash.ts'
import type { CounterpartyConfidence, EntryKind } from './entry-enums.ts'
import type { LedgerEntry } from './ledger-entry.ts'
import { readSums, rowOf, writeSums, type SumRow } from './mint-totals.ts'
import { sumsOf } from './sums.ts'

/** An address's entries of a block. */
export interface LedgerPart {
  readonly address: string
  readonly slot: number
  /** Unix seconds. */
  readonly blockTime: number
  /** Base58; null if the source does not state it. */
  readonly blockhash: string | null
  /** In the order of the block. */
  readonly entries: readonly LedgerEntry[]
}

/** Append-only: stored codes stay. */
const KINDS = new Codes<EntryKind>({
  transfer: 0,
  swap: 1,
  fee: 2,
  rent: 3,
  unwrap: 4,
  burn: 5,
  mint: 6,
  reward: 7,
  other: 8
})
const CONFIDENCES = new Codes<CounterpartyConfidence>({ exact: 0, inferred: 1, none: 2 })

/** The layout of pages and sums. */
const LAYOUT = 1
/** Flags of an entry. */
const IS_NATIVE = 1
/** The entry has the transaction, the fee and its payer of the entry before. */
const SAME_TRANSACTION = 2
const PRE_NEGATIVE = 4
const POST_NEGATIVE = 8
const HAS_VALUE = 16
const HAS_FEE_USD = 32
/** References to texts of a page: null, the address of the ledger, the mint of wrapped SOL, then those of its table. */
const NULL_REFERENCE = 0
const OWN_REFERENCE = 1
const WSOL_REFERENCE = 2
const TABLE_REFERENCE = 3

const out = new ByteWriter()
/** The entries of a page, which are packed before the texts that they refer to are known. */
const packedEntries = new ByteWriter()

/** Packs the entries of an address in a block with their sums: addresses that occur several times are stored once. */
export function packPage({ address, blockTime, blockhash, entries }: LedgerPart): {
  readonly value: Uint8Array
  readonly sums: SumRow
} {
  const [, ...byMint] = sumsOf(address, entries)
  const sums = rowOf(byMint, blockTime)
  const texts = new PageTexts(address)
  for (const mint of sums.mints) texts.referenceTo(mint)
  packedEntries.clear()
  let before: LedgerEntry | null = null
  for (const entry of entries) {
    writeEntry(packedEntries, entry, before, texts)
    before = entry
  }
  out.clear()
  out.byte(LAYOUT)
  writeSums(out, sums)
  texts.write(out)
  out.text(blockhash ?? '')
  out.count(entries.length)
  out.fixed(packedEntries.written(), packedEntries.length)
  // A piece of the platform's pool: a buffer of its own takes longer than its bytes.
  return { value: Buffer.from(out.written()), sums }
}

/** The texts of a page that is being packed, each once. */
class PageTexts {
  readonly #address: string
  readonly #references = new Map<string, number>()

  constructor(address: string) {
    this.#address = address
  }

  /** Returns the reference to a text. A new one is added. */
  referenceTo(text: string | null): number {
    if (text === null) return NULL_REFERENCE
    if (text === this.#address) return OWN_REFERENCE
    if (text === WSOL) return WSOL_REFERENCE
    const known = this.#references.get(text)
    if (known !== undefined) return known
    const reference = TABLE_REFERENCE + this.#references.size
    this.#references.set(text, reference)
    return reference
  }

  write(to: ByteWriter): void {
    to.count(this.#references.size)
    for (const text of this.#references.keys()) to.text(text)
  }
}

function writeEntry(to: ByteWriter, entry: LedgerEntry, before: LedgerEntry | null, texts: PageTexts): void {
  const { pre, post, valueUsd, feeUsd } = entry
  const isSame = before !== null && isOfTransaction(entry, before)
  // In the order of their first use in the table, which is not that of the fields.
  const account = texts.referenceTo(entry.account)
  const counterparty = texts.referenceTo(entry.counterparty)
  to.byte(
    (entry.isNative ? IS_NATIVE : 0) |
      (isSame ? SAME_TRANSACTION : 0) |
      (pre < 0n ? PRE_NEGATIVE : 0) |
      (post < 0n ? POST_NEGATIVE : 0) |
      (valueUsd === null ? 0 : HAS_VALUE) |
      (feeUsd === null ? 0 : HAS_FEE_USD)
  )
  if (!isSame) {
    to.text(entry.signature ?? '')
    to.offset(entry.txIndex)
    to.amount(entry.feeLamports)
    to.count(texts.referenceTo(entry.feePayer))
  }
  to.count(entry.index)
  to.count(account)
  to.count(texts.referenceTo(entry.mint))
  to.count(entry.decimals)
  to.amount(pre < 0n ? -pre : pre)
  to.amount(post < 0n ? -post : post)
  to.byte(KINDS.codeOf(entry.kind))
  to.count(counterparty)
  to.byte(CONFIDENCES.codeOf(entry.confidence))
  to.optionalCount(entry.ixIndex)
  if (valueUsd !== null) to.float(valueUsd)
  if (feeUsd !== null) to.float(feeUsd)
}

const isOfTransaction = (a: LedgerEntry, b: LedgerEntry): boolean =>
  a.signature === b.signature &&
  a.txIndex === b.txIndex &&
  a.feePayer === b.feePayer &&
  a.feeLamports === b.feeLamports

/** Packs the sums of a range of slots. */
export function packSums(sums: SumRow): Uint8Array {
  out.clear()
  out.byte(LAYOUT)
  writeSums(out, sums)
  return out.take()
}

/** Reads the sums of a page, or of a range of slots. */
export const sumsIn = (value: Uint8Array): SumRow => readSums(opened(value))

/** Reads the entries of a page. */
export function partOf({ owner: address, slot, value }: LedgerPage): LedgerPart {
  const source = opened(value)
  const { lastAt: blockTime } = readSums(source)
  const table = source.texts()
  const textOf = (reference: number): string | null => {
    if (reference === NULL_REFERENCE) return null
    if (reference === OWN_REFERENCE) return address
    return reference === WSOL_REFERENCE ? WSOL : table[reference - TABLE_REFERENCE]!
  }
  const blockhash = source.text() || null
  const entries: LedgerEntry[] = []
  for (let left = source.count(); left > 0; left--) entries.push(readEntry(source, entries.at(-1), textOf))
  return { address, slot, blockTime, blockhash, entries }
}

function readEntry(
  source: ByteReader,
  before: LedgerEntry | undefined,
  textOf: (reference: number) => string | null
): LedgerEntry {
  const flags = source.byte()
  const has = (flag: number): boolean => (flags & flag) !== 0
  const { signature, txIndex, feeLamports, feePayer } = has(SAME_TRANSACTION)
    ? before!
    : {
        signature: source.text() || null,
        txIndex: source.offset(),
        feeLamports: source.amount(),
        feePayer: textOf(source.count())
      }
  const index = source.count()
  const account = textOf(source.count())!
  const mint = textOf(source.count())!
  const decimals = source.count()
  const [pre, post] = [source.amount(), source.amount()]
  return {
    signature,
    txIndex,
    index,
    account,
    mint,
    isNative: has(IS_NATIVE),
    decimals,
    pre: has(PRE_NEGATIVE) ? -pre : pre,
    post: has(POST_NEGATIVE) ? -post : post,
    kind: KINDS.wordOf(source.byte()),
    counterparty: textOf(source.count()),
    confidence: CONFIDENCES.wordOf(source.byte()),
    feeLamports,
    feePayer,
    ixIndex: source.optionalCount(),
    valueUsd: has(HAS_VALUE) ? source.float() : null,
    feeUsd: has(HAS_FEE_USD) ? source.float() : null
  }
}

function opened(value: Uint8Array): ByteReader {
  const source = new ByteReader(value)
  const layout = source.byte()
  if (layout !== LAYOUT) throw new RangeError(`a page of a ledger has layout ${layout}`)
  return source
}
