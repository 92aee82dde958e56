import { ByteReader } from '../../storage/codec/byte-reader.ts'
import { ByteWriter } from '../../storage/codec/byte-writer.ts'

/** The state of an address's sums. */
export interface SumMark {
  /** The sums of all ranges that end before this slot are stored. Later entries are in pages alone. */
  readonly sealedTo: number
  /** The greatest `sealedTo` that there was: sums of ranges before it may be stored, and out of date. */
  readonly writtenTo: number
  /** Grows whenever pages or sums before `sealedTo`, or pages that were there, have changed. */
  readonly edits: number
}

export const NO_MARK: SumMark = { sealedTo: 0, writtenTo: 0, edits: 0 }

const out = new ByteWriter()

export function packMark({ sealedTo, writtenTo, edits }: SumMark): Uint8Array {
  out.clear()
  out.count(sealedTo)
  out.count(writtenTo)
  out.count(edits)
  return out.take()
}

export function markIn(value: Uint8Array | null): SumMark {
  if (value === null) return NO_MARK
  const source = new ByteReader(value)
  return { sealedTo: source.count(), writtenTo: source.count(), edits: source.count() }
}
