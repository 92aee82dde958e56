import { DexParser } from 'solana-dex-parser'
import { AGGREGATORS } from '../src/chain/aggregators.ts'
import { decodeTransaction } from '../src/chain/decode.ts'
import type { ChainEvent } from '../src/chain/events.ts'
import { pubkeyToBase58 } from '../src/chain/pubkey.ts'
import { readRpcTransaction } from '../src/chain/rpc/transaction.ts'
import { VENUES_BY_PROGRAM } from '../src/chain/venues.ts'

type PeerTransaction = Parameters<DexParser['parseAll']>[0]

interface Fill {
  readonly program: string
  readonly inMint: string
  readonly outMint: string
  /** Fill and trader's totals, in base units: a peer that reports either one is right. */
  readonly inAmounts: readonly string[]
  readonly outAmounts: readonly string[]
}

interface Difference {
  readonly kind: 'ours_only' | 'peer_only' | 'other_amounts'
  readonly signature: string
  readonly fill: Fill
  /** The fill that Millrace decoded, if both sides found the trade. */
  readonly beside?: Fill
}

/** The fills that each side finds in one transaction. */
interface Sides {
  readonly signature: string
  readonly failed: boolean
  readonly events: readonly ChainEvent[]
  readonly own: readonly Fill[]
  readonly peers: readonly Fill[]
}

/**
 * Compares the fills of both sides: counts the trades that both find, with equal or other amounts, and by reason those that
 * only one finds.
 */
export function compareTrades(ours: readonly unknown[], peers: readonly PeerTransaction[]) {
  const parser = new DexParser()
  const found = { ours: 0, peer: 0, same: 0, other_amounts: 0, ours_only: 0, peer_only: 0 }
  const because: Record<string, number> = {}
  const unexplained: Difference[] = []
  for (const [place, value] of ours.entries()) {
    const sides = sidesOf(value, parser, peers[place]!)
    if (sides === null) continue
    const { same, differences } = compare(sides)
    found.ours += sides.own.length
    found.peer += sides.peers.length
    found.same += same
    for (const difference of differences) {
      found[difference.kind]++
      const reason = explain(difference, sides)
      if (reason === null) unexplained.push(difference)
      else because[`${difference.kind}: ${reason}`] = (because[`${difference.kind}: ${reason}`] ?? 0) + 1
    }
  }
  return { ...found, because, unexplained }
}

function compare({ signature, own, peers }: Sides): { same: number; differences: Difference[] } {
  const rest = [...own]
  const differences: Difference[] = []
  let same = 0
  for (const fill of peers) {
    const equal = rest.findIndex((candidate) => isSame(candidate, fill))
    const pair = equal >= 0 ? equal : rest.findIndex((candidate) => isPair(candidate, fill))
    if (pair < 0) {
      differences.push({ kind: 'peer_only', signature, fill })
      continue
    }
    const [beside] = rest.splice(pair, 1)
    if (equal >= 0) same++
    else differences.push({ kind: 'other_amounts', signature, fill, beside: beside! })
  }
  for (const fill of rest) differences.push({ kind: 'ours_only', signature, fill })
  return { same, differences }
}

/** Cases that a person has reviewed, by the first characters of their signature. */
const REVIEWED: Readonly<Record<string, string>> = {
  '5yqnLaYVBKtM': "the peer takes the trader's lamport difference, which holds the network fee of 19,000",
  '4NAjaq6zBbFJ':
    "the peer adds a referral fee that is paid to the trader's own account; it stands among our fees",
  '5QBqQcPw7NcV':
    "the peer adds a referral fee that is paid to the trader's own account, and then takes the next hop for it",
  '2H67XLLAJvdz': 'a claim of fees, which the peer reads as a trade'
}

function explain({ kind, signature, fill }: Difference, { failed, events, peers }: Sides): string | null {
  const reviewed = REVIEWED[signature.slice(0, 12)]
  if (reviewed !== undefined && VENUES_BY_PROGRAM.ofText(fill.program) !== undefined) return reviewed
  const reversed = peers.some((peer) => peer.inMint === fill.outMint && peer.outMint === fill.inMint)
  if (kind === 'ours_only') {
    const hidden = peers.some(
      (peer) => peer.program !== fill.program && isSame({ ...fill, program: peer.program }, peer)
    )
    if (hidden) return 'the peer gives this fill under the program that routed it'
    const phoenix = VENUES_BY_PROGRAM.ofText(fill.program)?.id === 'phoenix'
    if (phoenix && reversed) return 'the peer has the direction reversed: Phoenix pays out before it takes in'
    return 'a fill that the peer does not find'
  }
  if (failed) return 'the transaction failed, so nothing was executed'
  if (AGGREGATORS.ofText(fill.program) !== undefined)
    return "an aggregator's own event, which repeats its legs"
  const venue = VENUES_BY_PROGRAM.ofText(fill.program)
  if (venue === undefined) return 'a program that is none of the fifteen venues'
  if (venue.id === 'phoenix') return 'the direction is reversed: Phoenix pays out before it takes in'
  if (events.some((event) => event.kind === 'liquidity' && event.venue === venue.id)) {
    return 'liquidity, which the peer reads as a trade'
  }
  return null
}

function isPair(a: Fill, b: Fill): boolean {
  return a.program === b.program && a.inMint === b.inMint && a.outMint === b.outMint
}

function isSame(a: Fill, b: Fill): boolean {
  return isPair(a, b) && a.inAmounts.includes(b.inAmounts[0]!) && a.outAmounts.includes(b.outAmounts[0]!)
}

function sidesOf(value: unknown, parser: DexParser, peer: PeerTransaction): Sides | null {
  const outcome = readRpcTransaction(value)
  if (outcome.kind !== 'transaction') return null
  const { transaction } = outcome
  const { events } = decodeTransaction(transaction)
  const { trades, signature } = parser.parseAll(peer)
  return {
    signature,
    failed: transaction.failed,
    events,
    own: events.flatMap(ownFill),
    peers: trades.map((trade) => ({
      program: trade.programId ?? '',
      inMint: trade.inputToken.mint,
      outMint: trade.outputToken.mint,
      inAmounts: [trade.inputToken.amountRaw],
      outAmounts: [trade.outputToken.amountRaw]
    }))
  }
}

function ownFill(event: ChainEvent): Fill[] {
  if (event.kind !== 'trade') return []
  return [
    {
      program: pubkeyToBase58(event.program),
      inMint: pubkeyToBase58(event.inMint),
      outMint: pubkeyToBase58(event.outMint),
      inAmounts: [event.inAmount.toString(), event.traderIn.toString()],
      outAmounts: [event.outAmount.toString(), event.traderOut.toString()]
    }
  ]
}
