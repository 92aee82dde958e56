import { DECODER_VERSION } from '../../chain/decoder-version.ts'
import type { VenueId } from '../../chain/venue-id.ts'
import { decodedRanges, venuesLacking } from '../../market/decoding-period.ts'
import { readDecodingPeriods } from '../../ingest/decoding-periods.ts'
import type { Storage } from '../../../storage/port.ts'
import type { Difference } from './difference.ts'

/** A finding about the decoding of a range: a difference if rows are certainly missing, else a note for the operator. */
export type DecodingFinding =
  | { readonly difference: Difference; readonly note: null }
  | { readonly difference: null; readonly note: string }

/**
 * Compares how the stored slots, or those of a range, were decoded with how they would be today. Ranges that lack a wanted
 * venue are differences. Ranges of unknown venues or an older decoder are notes, because their rows may still be right.
 */
export async function decodingFindings(
  storage: Storage,
  wanted: readonly VenueId[],
  within: { readonly from: number; readonly to: number } | null
): Promise<DecodingFinding[]> {
  const [head, oldest] = await Promise.all([storage.blocks.head(), storage.blocks.firstSince(0)])
  if (head === null || oldest === null) return []
  const first = Math.max(oldest, within?.from ?? 0)
  const last = Math.min(head.slot, within?.to ?? Infinity)
  const findings: DecodingFinding[] = []
  const note = (text: string): void => void findings.push({ difference: null, note: text })
  for (const { from, to, period } of decodedRanges(await readDecodingPeriods(storage), first, last)) {
    const slots = `slots ${from} to ${to}`
    if (period === null) {
      note(`${slots} are of a version that did not record venues and decoder; some venues may be missing`)
      continue
    }
    const lacking = venuesLacking(period, wanted)
    if (lacking.length > 0) {
      const of = { from_slot: from, to_slot: to, lacking }
      const difference = { kind: 'venues', of, stored: period.venues, computed: wanted } as const
      findings.push({ difference, note: null })
    }
    if (period.decoderVersion < DECODER_VERSION)
      note(
        `${slots} were decoded by version ${period.decoderVersion} of the decoder; this one is ${DECODER_VERSION}`
      )
  }
  return findings
}
