import { DexParser } from 'solana-dex-parser'
import { decodeTransaction } from '../src/chain/decode.ts'
import { pubkeyToBase58 } from '../src/chain/pubkey.ts'
import { readRpcTransaction } from '../src/chain/rpc/transaction.ts'

type PeerTransaction = Parameters<DexParser['parseAll']>[0]

interface Fill {
  readonly program: string
  readonly inMint: string
  readonly outMint: string
  /** Fill and trader's totals: a peer that reports either is right. */
  readonly inAmounts: readonly string[]
  readonly outAmounts: readonly string[]
}

/** The trades that both find, with equal or other amounts, and those that one alone finds, with where. */
export function compareTrades(ours: readonly unknown[], peers: readonly PeerTransaction[]) {
  const peer = new DexParser()
  const found = { ours: 0, peer: 0, same: 0, other_amounts: 0, ours_only: 0, peer_only: 0 }
  const cases: {
    readonly kind: string
    readonly signature: string
    readonly fill: unknown
    readonly beside?: unknown
  }[] = []
  for (const [place, value] of ours.entries()) {
    const own = ownFills(value)
    const rest = [...own]
    const { signature, fills } = peerFills(peer, peers[place]!)
    found.ours += own.length
    found.peer += fills.length
    for (const fill of fills) {
      const same = rest.findIndex((candidate) => isSame(candidate, fill))
      const pair = same >= 0 ? same : rest.findIndex((candidate) => isPair(candidate, fill))
      if (pair < 0) {
        found.peer_only++
        cases.push({ kind: 'peer_only', signature, fill })
        continue
      }
      const [matched] = rest.splice(pair, 1)
      if (same >= 0) found.same++
      else {
        found.other_amounts++
        cases.push({ kind: 'other_amounts', signature, fill, beside: matched })
      }
    }
    found.ours_only += rest.length
    for (const fill of rest) cases.push({ kind: 'ours_only', signature, fill })
  }
  return { ...found, cases }
}

function isPair(a: Fill, b: Fill): boolean {
  return a.program === b.program && a.inMint === b.inMint && a.outMint === b.outMint
}

function isSame(a: Fill, b: Fill): boolean {
  return isPair(a, b) && a.inAmounts.includes(b.inAmounts[0]!) && a.outAmounts.includes(b.outAmounts[0]!)
}

function ownFills(value: unknown): Fill[] {
  const outcome = readRpcTransaction(value)
  if (outcome.kind !== 'transaction') return []
  return decodeTransaction(outcome.transaction).events.flatMap((event) =>
    event.kind === 'trade'
      ? [
          {
            program: pubkeyToBase58(event.program),
            inMint: pubkeyToBase58(event.inMint),
            outMint: pubkeyToBase58(event.outMint),
            inAmounts: [event.inAmount.toString(), event.traderIn.toString()],
            outAmounts: [event.outAmount.toString(), event.traderOut.toString()]
          }
        ]
      : []
  )
}

function peerFills(peer: DexParser, value: PeerTransaction): { signature: string; fills: Fill[] } {
  const { trades, signature } = peer.parseAll(value)
  const fills = trades.map((trade) => ({
    program: trade.programId ?? '',
    inMint: trade.inputToken.mint,
    outMint: trade.outputToken.mint,
    inAmounts: [trade.inputToken.amountRaw],
    outAmounts: [trade.outputToken.amountRaw]
  }))
  return { signature, fills }
}
