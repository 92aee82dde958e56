import type { Note } from './emitter.ts'
import type { Transaction } from './transaction.ts'
import type { VenueId } from './venue-id.ts'
import { VENUES_BY_PROGRAM } from './venues.ts'

/**
 * Returns a note for each venue that a transaction without recorded inner instructions may have called. A program can
 * only be called if the transaction names it, so a transaction that names no venue's program certainly has no events.
 */
export function notesOfUnseenCalls({ instructions, keys }: Transaction): readonly Note[] {
  const found = new Map<VenueId, Note>()
  for (let key = 0; key < keys.length; key++) {
    const venue = keys.lookup(key, VENUES_BY_PROGRAM)?.id
    if (venue === undefined || found.has(venue)) continue
    const named = instructions.find(
      ({ program, accounts }) => program === key || Array.prototype.includes.call(accounts, key)
    )
    // The program may be among the keys without an instruction that names it.
    const place = { ixIndex: named?.outerIndex ?? 0, innerIxIndex: null }
    found.set(venue, { kind: 'missing', venue, ...place, reason: 'inner-instructions-absent', detail: '' })
  }
  return [...found.values()]
}
