import { decodeBase58 } from '../../chain/base58.ts'
import { SLOT_MAX, TRANSACTION_INDEX_MAX } from '../../chain/chain-numbers.ts'
import { isZeroPubkey, pubkeyFromBase58, samePubkey, type Pubkey } from '../../chain/pubkey.ts'
import { VENUE_IDS, type VenueId } from '../../chain/venue-id.ts'
import { VENUES_BY_PROGRAM } from '../../chain/venues.ts'
import { CashList, WSOL } from '../../market/cash.ts'
import { AddressTexts } from './address-texts.ts'
import { parseDecimal } from './decimal-text.ts'
import { impliedDecimals, readHumanAmount, readRawAmount, shown, type AmountReading } from './row-amount.ts'
import type { RowCells, RowField } from './row-field.ts'
import type { RefusalReason } from './row-refusal.ts'
import { readTime } from './row-time.ts'
import { readDetails, valuedSolUsd } from './row-details.ts'
import type { FactDetails, FactLeg, FactPlace, TradeFact } from './trade-fact.ts'

/** Mainnet began on 2020-03-16, in Unix seconds. */
export const CHAIN_START = Date.UTC(2020, 2, 16) / 1_000
/** Decimals are one byte in a mint. */
const DECIMALS_MAX = 255

/** Above the price of any two amounts: 2^64 base units for one base unit of a mint with 20 decimals. */
const PRICE_MAX = 1e40
/** Above any USD price of SOL: a million times that of 2025. */
const SOL_USD_MAX = 1e9

/** An accepted row, or why it is refused. */
export type RowOutcome =
  | { readonly kind: 'fact'; readonly fact: TradeFact }
  | { readonly kind: 'refused'; readonly reason: RefusalReason; readonly detail: string }

export interface RowCheckOptions {
  /** The venue of rows that name neither a venue nor a program; null to refuse them. */
  readonly venue: VenueId | null
  /** Unix seconds; a row of a later time is refused. */
  readonly now: number
}

class RefusedRow extends Error {
  readonly reason: RefusalReason

  constructor(reason: RefusalReason, detail: string) {
    super(detail)
    this.reason = reason
  }
}

const WRAPPED_SOL = pubkeyFromBase58(WSOL)

/** Checks single rows. The outcome depends on nothing but the row, so files can be imported in any order. */
export class RowCheck {
  readonly #options: RowCheckOptions

  constructor(options: RowCheckOptions) {
    this.#options = options
  }

  /** Checks a row. The first fault found is the reason of a refusal. */
  check(cells: RowCells): RowOutcome {
    try {
      return { kind: 'fact', fact: this.#fact(cells) }
    } catch (error) {
      if (!(error instanceof RefusedRow)) throw error
      return { kind: 'refused', reason: error.reason, detail: error.message }
    }
  }

  #fact(cells: RowCells): TradeFact {
    checkSuccess(cells)
    const signature = signatureOf(cells)
    const slot = numberOf(cells, 'slot', SLOT_MAX, 'bad-slot')
    const blockTime = this.#timeOf(cells)
    if (slot === null && blockTime === null)
      throw new RefusedRow('missing-field', 'the row has neither a slot nor a block_time')
    const { venue, program } = this.#venueOf(cells)
    const [inMint, outMint] = [mintOf(cells, 'in_mint'), mintOf(cells, 'out_mint')]
    if (samePubkey(inMint, outMint)) throw new RefusedRow('same-mint', 'both mints are the same')
    const legs = legsOf(cells, inMint, outMint)
    const fact: TradeFact = {
      slot,
      blockTime,
      signature,
      venue,
      program,
      pool: addressOf(cells, 'pool'),
      trader: addressOf(cells, 'trader'),
      ...legs,
      place: placeOf(cells),
      solUsd: solUsdOf(cells, legs),
      details: detailsOf(cells, legs)
    }
    positiveOf(cells, 'price')
    return fact
  }

  #timeOf(cells: RowCells): number | null {
    const text = cells.block_time ?? null
    if (text === null) return null
    const time = readTime(text)
    if (time === null) throw new RefusedRow('bad-time', `block_time ${shown(text)} is not a time`)
    if (time < CHAIN_START)
      throw new RefusedRow('time-before-chain', `block_time ${shown(text)} is before 2020-03-16`)
    if (time > this.#options.now)
      throw new RefusedRow('time-in-future', `block_time ${shown(text)} is in the future`)
    return time
  }

  #venueOf(cells: RowCells): { readonly venue: VenueId; readonly program: Pubkey | null } {
    const name = cells.venue ?? null
    const program = addressOf(cells, 'program')
    if (name !== null && !isVenueId(name))
      throw new RefusedRow('unknown-venue', `venue ${shown(name)} is not one of ${VENUE_IDS.join(', ')}`)
    const ofProgram = program === null ? null : (VENUES_BY_PROGRAM.ofBytes(program)?.id ?? null)
    if (program !== null && ofProgram === null)
      throw new RefusedRow('unknown-venue', `program ${cells.program} is not a program of a venue`)
    if (name !== null && ofProgram !== null && name !== ofProgram)
      throw new RefusedRow('unknown-venue', `venue ${name} has not the program ${cells.program}`)
    const venue = name ?? ofProgram ?? this.#options.venue
    if (venue === null) throw new RefusedRow('missing-field', 'the row has neither a venue nor a program')
    return { venue, program }
  }
}

function legsOf(
  cells: RowCells,
  inMint: Pubkey,
  outMint: Pubkey
): { readonly in: FactLeg; readonly out: FactLeg } {
  const listed = addressOf(cells, 'mint')
  const ofListed = decimalsOf(cells, 'decimals')
  const stated = (mint: Pubkey, field: 'in_decimals' | 'out_decimals'): number | null =>
    decimalsOf(cells, field) ?? (listed !== null && samePubkey(wrapped(listed), mint) ? ofListed : null)
  return {
    in: legOf(cells, 'in', inMint, stated(inMint, 'in_decimals')),
    out: legOf(cells, 'out', outMint, stated(outMint, 'out_decimals'))
  }
}

const CASH = new CashList()

/** Reads one side. Decimals that another row states do not count: base units would depend on the order of the rows. */
function legOf(cells: RowCells, side: 'in' | 'out', mint: Pubkey, decimals: number | null): FactLeg {
  const known = CASH.of(mint)?.decimals ?? null
  if (known !== null && decimals !== null && known !== decimals)
    throw new RefusedRow(
      'decimals-contradict',
      `mint ${cells[`${side}_mint`]} has ${decimals} decimals here, and ${known} on the chain`
    )
  const raw = cells[`${side}_amount_raw`] ?? null
  const human = cells[`${side}_amount`] ?? null
  if (raw !== null) {
    const amountRaw = accepted(readRawAmount(raw))
    return { mint, decimals: decimals ?? impliedDecimals(amountRaw, human), amountRaw }
  }
  if (human === null) throw new RefusedRow('missing-field', `the row has no ${side}_amount_raw`)
  const places = decimals ?? known
  if (places === null)
    throw new RefusedRow(
      'missing-field',
      `the row has no ${side}_decimals, without which ${side}_amount has no base units`
    )
  return { mint, decimals: places, amountRaw: accepted(readHumanAmount(human, places)) }
}

/** Returns the USD per SOL that a row states, or by which its values were computed. */
function solUsdOf(cells: RowCells, legs: { readonly in: FactLeg; readonly out: FactLeg }): number | null {
  const stated = positiveOf(cells, 'sol_usd', SOL_USD_MAX)
  const [amountUsd, priceUsd] = [positiveOf(cells, 'amount_usd'), positiveOf(cells, 'price_usd')]
  const { in: paid, out: received } = legs
  if (stated !== null || paid.decimals === null || received.decimals === null) return stated
  const valued = valuedSolUsd(
    amountUsd,
    priceUsd,
    { ...paid, decimals: paid.decimals },
    { ...received, decimals: received.decimals }
  )
  if (valued !== null && valued > SOL_USD_MAX)
    throw new RefusedRow(
      'bad-price',
      `amount_usd ${shown(cells.amount_usd!)} gives SOL a price of ${valued} USD`
    )
  return valued
}

function detailsOf(
  cells: RowCells,
  { in: paid, out: received }: { readonly in: FactLeg; readonly out: FactLeg }
): FactDetails | null {
  const reading = readDetails(cells, addressOf(cells, 'mint'), paid, received)
  if (reading.fault !== null) throw new RefusedRow('bad-detail', reading.fault)
  return reading.details
}

function checkSuccess(cells: RowCells): void {
  const success = cells.success?.toLowerCase() ?? null
  if (success !== null && success !== 'true' && success !== '1')
    throw new RefusedRow('failed-transaction', 'the transaction failed, so nothing was traded')
}

function signatureOf(cells: RowCells): Uint8Array {
  const text = cells.signature ?? null
  if (text === null) throw new RefusedRow('missing-field', 'the row has no signature')
  const bytes = base58Bytes(text)
  if (bytes?.length !== 64)
    throw new RefusedRow('bad-signature', `${shown(text)} is not a signature of 64 bytes in base58`)
  return bytes
}

function mintOf(cells: RowCells, field: 'in_mint' | 'out_mint'): Pubkey {
  const mint = addressOf(cells, field)
  if (mint === null) throw new RefusedRow('missing-field', `the row has no ${field}`)
  return wrapped(mint)
}

/** Returns wrapped SOL for the system program, by which vendors name native SOL. */
const wrapped = (mint: Pubkey): Pubkey => (isZeroPubkey(mint) ? WRAPPED_SOL : mint)

function addressOf(cells: RowCells, field: RowField): Pubkey | null {
  const text = cells[field] ?? null
  if (text === null) return null
  const address = ADDRESSES.addressOf(text)
  if (address === null)
    throw new RefusedRow('bad-address', `${field} ${shown(text)} is not an address of 32 bytes in base58`)
  return address
}

const ADDRESSES = new AddressTexts((text) => {
  const bytes = base58Bytes(text)
  return bytes?.length === 32 ? bytes : null
})

/** The longest base58 text of 64 bytes. */
const BASE58_DIGITS_MAX = 88

function base58Bytes(text: string): Uint8Array | null {
  if (text.length > BASE58_DIGITS_MAX) return null
  try {
    return decodeBase58(text)
  } catch {
    return null
  }
}

function accepted(reading: AmountReading): bigint {
  if (reading.reason !== null) throw new RefusedRow(reading.reason, reading.detail)
  return reading.amountRaw
}

const decimalsOf = (cells: RowCells, field: RowField): number | null =>
  numberOf(cells, field, DECIMALS_MAX, 'bad-decimals')

const WHOLE = /^(\d{1,16})(?:\.0*)?$/

/** Returns a whole number from 0 to `max`; null if the row has none. Columns with empty cells may have become `12.0`. */
function numberOf(cells: RowCells, field: RowField, max: number, reason: RefusalReason): number | null {
  const text = cells[field] ?? null
  if (text === null) return null
  const digits = WHOLE.exec(text)?.[1]
  if (digits === undefined || Number(digits) > max)
    throw new RefusedRow(reason, `${field} ${shown(text)} is not a whole number from 0 to ${max}`)
  return Number(digits)
}

function placeOf(cells: RowCells): FactPlace {
  const indexOf = (field: RowField): number | null =>
    numberOf(cells, field, TRANSACTION_INDEX_MAX, 'bad-place')
  const number = indexOf('ix_number')
  if (number === 0) throw new RefusedRow('bad-place', 'ix_number counts from 1')
  const innerNumber = indexOf('inner_ix_number')
  return {
    txIndex: indexOf('tx_index'),
    ixIndex: indexOf('ix_index') ?? (number === null ? null : number - 1),
    innerIxIndex:
      indexOf('inner_ix_index') ?? (innerNumber === null || innerNumber === 0 ? null : innerNumber - 1)
  }
}

/** Checks a price: a number above 0 and up to a limit; null if the row has none. */
function positiveOf(
  cells: RowCells,
  field: 'price' | 'sol_usd' | 'amount_usd' | 'price_usd',
  max = PRICE_MAX
): number | null {
  const text = cells[field] ?? null
  if (text === null) return null
  const value = Number(text)
  if (parseDecimal(text) === null || !(value > 0))
    throw new RefusedRow('bad-price', `${field} ${shown(text)} is not a number above 0`)
  if (value > max)
    throw new RefusedRow('bad-price', `${field} ${shown(text)} is above ${max}, so it is no price`)
  return value
}

const isVenueId = (name: string): name is VenueId => (VENUE_IDS as readonly string[]).includes(name)
